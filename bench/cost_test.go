package bench

import (
	"fmt"
	"testing"
	"time"

	"harness"
	"harness/store/sqlite"
)

// cost is what one more event costs an awake session with one watcher: encoded,
// appended, folded, projected, sent.
type cost struct{ cpu, wall float64 } // ns

// measureCost appends to the longest session and, in turn, to fresh ones that
// are short.
func measureCost(tb testing.TB, st *sqlite.Store, s *server, tap *faucet) map[int]cost {
	rounds, n := 9, 5000
	if long() {
		rounds = 31
	}
	c := startChild(tb, "crowd")
	defer c.end()
	cpus, walls := map[int][]float64{}, map[int][]float64{}
	for round := range rounds {
		for _, length := range []int{lengths[0], lengths[len(lengths)-1]} {
			id := shelved(length)
			if length == lengths[0] {
				id = harness.SessionID(fmt.Sprintf("ses_short_%d", round))
				if err := fill(st, id, length, 24); err != nil {
					tb.Fatal(err)
				}
			}
			c.ask(ask{Do: "dial", Addr: s.addr, Path: "/ws?window=64&sessionId=" + string(id), N: 1, Kind: "harness"})
			c.ask(ask{Do: "heard", N: 1, Total: 1})
			s.submit(tb, id, "pour")
			if err := tap.pour(500, chunk(deltaText)); err != nil { // awake and warm
				tb.Fatal(err)
			}
			cpu, start := cpuTime(), time.Now()
			if err := tap.pour(n, chunk(deltaText)); err != nil {
				tb.Fatal(err)
			}
			walls[length] = append(walls[length], float64(time.Since(start))/float64(n))
			cpus[length] = append(cpus[length], float64(cpuTime()-cpu)/float64(n))
			tap.end()
			s.asleep(tb)
			c.ask(ask{Do: "hangup"})
		}
	}
	costs := map[int]cost{}
	for length := range cpus {
		costs[length] = cost{median(cpus[length]), median(walls[length])}
	}
	return costs
}

// grew is the ratio of the cost in a long history to that in a short one.
func grew(c map[int]cost) float64 { return c[lengths[len(lengths)-1]].cpu / c[lengths[0]].cpu }

// BenchmarkCostPerEvent is one event in a session with a short and one with a
// long history, on SQLite, with one watcher.
func BenchmarkCostPerEvent(b *testing.B) {
	for _, n := range []int{lengths[0], lengths[len(lengths)-1]} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			c := histories.get(b, struct{}{}, measureHistory).cost
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(c[n].cpu, "cpu-ns/event")
			b.ReportMetric(c[n].wall, "wall-ns/event")
			b.ReportMetric(c[n].cpu/c[lengths[0]].cpu, "x-1k")
		})
	}
}
