package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/store/memory"
)

// stamped is a memory store that notes when each commit was done.
type stamped struct {
	*memory.Store

	mu sync.Mutex // guards at
	at map[int64]int64
}

func newStamped() *stamped { return &stamped{Store: memory.New(), at: make(map[int64]int64)} }

func (s *stamped) Append(ctx context.Context, c harness.Commit) error {
	if err := s.Store.Append(ctx, c); err != nil {
		return err
	}
	now := monotonic()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range c.Events {
		s.at[int64(e.Seq)] = now
	}
	return nil
}

// latencies is how long after its commit each sampled delta's newest event was
// read.
func (s *stamped) latencies(samples []sample) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []time.Duration
	for _, x := range samples {
		if at, ok := s.at[x.Seq]; ok {
			all = append(all, time.Duration(x.At-at))
		}
	}
	return all
}

// latency is how long a delta is on its way in a sparse stream to one watcher,
// beside bytes written straight to a socket.
type latency struct{ p50, p99, raw50, raw99 time.Duration }

func measureLatency(tb testing.TB, _ struct{}) latency {
	ticks := 300
	if long() {
		ticks = 2000
	}
	st, tap := newStamped(), newFaucet()
	p := startPourOn(tb, st, tap, 1, 0, 0)
	defer p.close()
	l := startBare(tb, 1)
	defer l.close()
	p.crowd.ask(ask{Do: "sample", N: 1})
	l.crowd.ask(ask{Do: "sample", N: 1})
	frame := append([]byte{0x81, 126, 0, 200}, message()...)
	fds := l.fds()
	wrote := make(map[int64]int64)
	tick := time.NewTicker(25 * time.Millisecond) // longer than any window
	defer tick.Stop()
	for i := range ticks {
		<-tick.C
		if i%2 == 0 {
			wrote[int64(i/2+1)] = monotonic()
			if err := l.writeAll(fds, frame); err != nil {
				tb.Fatal(err)
			}
		} else if err := tap.pour(1, chunk(deltaText)); err != nil {
			tb.Fatal(err)
		}
	}
	ours := st.latencies(p.crowd.ask(ask{Do: "samples"}).Samples)
	var raw []time.Duration
	for _, x := range l.crowd.ask(ask{Do: "samples"}).Samples {
		raw = append(raw, time.Duration(x.At-wrote[x.Seq]))
	}
	return latency{quantile(ours, 0.5), quantile(ours, 0.99), quantile(raw, 0.5), quantile(raw, 0.99)}
}

// BenchmarkLatency is durable commit to client read, one watcher, one delta
// every 50 ms.
func BenchmarkLatency(b *testing.B) {
	l := sparse.get(b, struct{}{}, measureLatency)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(l.p50.Microseconds()), "p50-µs")
	b.ReportMetric(float64(l.p99.Microseconds()), "p99-µs")
	b.ReportMetric(float64(l.raw50.Microseconds()), "raw-p50-µs")
	b.ReportMetric(float64(l.raw99.Microseconds()), "raw-p99-µs")
	b.ReportMetric(float64(l.p50)/float64(l.raw50), "x-raw")
}
