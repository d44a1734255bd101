package bench

import (
	"sync"
	"testing"
)

// memo keeps what was measured: the benchmarks print what the gates judge, and
// neither measures twice.
type memo[K comparable, V any] struct {
	mu   sync.Mutex // guards done; held while measuring, so that nothing runs beside
	done map[K]V
}

func (m *memo[K, V]) get(tb testing.TB, key K, measure func(testing.TB, K) V) V {
	tb.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.done[key]; ok {
		return v
	}
	v := measure(tb, key)
	if m.done == nil {
		m.done = make(map[K]V)
	}
	m.done[key] = v
	return v
}

var (
	fanouts   memo[int, fanout]
	bridges   memo[string, bridged]
	histories memo[struct{}, history]
	branches  memo[struct{}, branching]
	parkeds   memo[string, parked]
	wakes     memo[struct{}, wake]
	durable   memo[int, appends]
	sparse    memo[struct{}, latency]
	slows     memo[struct{}, slow]

	operationCosts memo[struct{}, operations]
	unbatcheds     memo[struct{}, unbatched]

	gateds memo[int, gated]

	stdioStarts memo[struct{}, start]
	stdioBursts memo[struct{}, bursts]
	stdioPages  memo[struct{}, pages]
)
