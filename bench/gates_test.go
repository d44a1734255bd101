package bench

import (
	"math"
	"os"
	"testing"
	"time"
)

// TestGates holds the product to what was demanded of it. It takes minutes and
// a quiet machine, so it runs only when asked for.
func TestGates(t *testing.T) {
	if os.Getenv("BENCH_GATES") != "1" {
		t.Skip("set BENCH_GATES=1")
	}
	none := struct{}{}
	for _, g := range []struct {
		name    string
		measure func(tb testing.TB) float64
		limit   float64
		least   bool // the limit is a lower one
	}{
		{"operations applied by path and merged, M/s per core", func(tb testing.TB) float64 {
			return 1e3 / operationCosts.get(tb, none, measureOperations).path
		}, 10, true},
		{"tokens folded and merged, M/s per core", func(tb testing.TB) float64 {
			return 1e3 / operationCosts.get(tb, none, measureOperations).token
		}, 10, true},
		{"allocations for each of those", func(tb testing.TB) float64 {
			return operationCosts.get(tb, none, measureOperations).applyAllocs
		}, 0, false},
		{"20,000 operations on one growing text, M/s", func(tb testing.TB) float64 {
			o := operationCosts.get(tb, none, measureOperations)
			return 2e3 / (o.first + o.second)
		}, 3, true},
		{"the second half of those, times the first", func(tb testing.TB) float64 {
			o := operationCosts.get(tb, none, measureOperations)
			return o.second / o.first
		}, 1.2, false},
		{"one delta encoded: ns", func(tb testing.TB) float64 {
			return operationCosts.get(tb, none, measureOperations).plain
		}, 150, false},
		{"the same with escapes: ns", func(tb testing.TB) float64 {
			return operationCosts.get(tb, none, measureOperations).escape
		}, 150, false},
		{"allocations for either", func(tb testing.TB) float64 {
			return operationCosts.get(tb, none, measureOperations).encodeAllocs
		}, 0, false},
		{"CPU per unbatched write of a connection, times a bare write", func(tb testing.TB) float64 {
			u := unbatcheds.get(tb, none, measureUnbatched)
			return u.conn / u.bare
		}, 1.15, false},
		{"the same of the whole server", func(tb testing.TB) float64 {
			u := unbatcheds.get(tb, none, measureUnbatched)
			return u.server / u.bareProcess
		}, 1.15, false},
		{"deltas to 1,000 watchers, times centrifuge", func(tb testing.TB) float64 {
			f := fanouts.get(tb, 1000, measureFanout)
			return f.ours.deltas / f.centrifuge.deltas
		}, 5, true},
		{"the same with the default windows", func(tb testing.TB) float64 {
			f := fanouts.get(tb, 1000, measureFanout)
			return f.merged.deltas / f.centrifuge.deltas
		}, 5, true},
		{"deltas to 1,000 watchers, per second", func(tb testing.TB) float64 {
			return fanouts.get(tb, 1000, measureFanout).ours.deltas
		}, 1.5e6, true},
		{"resident bytes per parked session and socket", func(tb testing.TB) float64 {
			return parkeds.get(tb, "harness", measureParked).rss
		}, 1024, false},
		{"goroutines per parked session and socket", func(tb testing.TB) float64 {
			return parkeds.get(tb, "harness", measureParked).goroutines
		}, 0.001, false}, // a few of the process's own come and go
		{"attach to 1 M events, times 1 k", func(tb testing.TB) float64 {
			return histories.get(tb, none, measureHistory).attach.grown()
		}, 1.2, false},
		{"CPU per event behind 1 M, times 1 k", func(tb testing.TB) float64 {
			return grew(histories.get(tb, none, measureHistory).cost)
		}, 1.2, false},
		{"wake: µs more than awake", func(tb testing.TB) float64 {
			w := wakes.get(tb, none, measureWake)
			return float64((w.asleep - w.hot) / time.Microsecond)
		}, 200, false},
		{"wake: CPU µs more than awake", func(tb testing.TB) float64 {
			w := wakes.get(tb, none, measureWake)
			return float64((w.asleepCPU - w.hotCPU) / time.Microsecond)
		}, 100, false},
		{"connect to a sleeping session: CPU µs", func(tb testing.TB) float64 {
			return float64(wakes.get(tb, none, measureWake).connect / time.Microsecond)
		}, 350, false},
		{"sessions woken by connecting", func(tb testing.TB) float64 {
			return float64(wakes.get(tb, none, measureWake).woken)
		}, 0, false},
		{"heap bytes per stalled watcher", func(tb testing.TB) float64 {
			return slows.get(tb, none, measureSlow).heap
		}, 4 << 10, false},
		{"p99 of those that read, times without stalled ones", func(tb testing.TB) float64 {
			s := slows.get(tb, none, measureSlow)
			return float64(s.with) / float64(s.without)
		}, 1.2, false},
		{"clients whose final state differs", func(tb testing.TB) float64 {
			return float64(slows.get(tb, none, measureSlow).different)
		}, 0, false},
		{"sparse latency: p50 µs", func(tb testing.TB) float64 {
			return float64(sparse.get(tb, none, measureLatency).p50 / time.Microsecond)
		}, 150, false},
		{"sparse latency: p99 µs", func(tb testing.TB) float64 {
			return float64(sparse.get(tb, none, measureLatency).p99 / time.Microsecond)
		}, 1000, false},
		{"sparse latency: p50, times a bare write", func(tb testing.TB) float64 {
			l := sparse.get(tb, none, measureLatency)
			return float64(l.p50) / float64(l.bare50)
		}, 1.1, false},
		{"64 sessions' durable commands, times a flush each", func(tb testing.TB) float64 {
			a := durable.get(tb, 64, measureAppends)
			return float64(a.perAppend) / float64(a.floor)
		}, 1, false},
		{"exec to initialize, times codex", func(tb testing.TB) float64 {
			s := stdioStarts.get(tb, none, measureStart)
			return s.ours.slower(s.codex)
		}, 5, true},
		{"the same where it ran before", func(tb testing.TB) float64 {
			s := stdioStarts.get(tb, none, measureStart)
			return s.oursAgain.slower(s.codexAgain)
		}, 5, true},
		{"resident memory then, times codex", func(tb testing.TB) float64 {
			s := stdioStarts.get(tb, none, measureStart)
			return s.ours.larger(s.codex)
		}, 5, true},
		{"tokens of a turn over stdio, times codex", func(tb testing.TB) float64 {
			m := stdioBursts.get(tb, none, measureBursts)
			return m.ours.whole / m.codex.flow
		}, 5, true},
		{"the same behind a model's stream that is decoded first", func(tb testing.TB) float64 {
			m := stdioBursts.get(tb, none, measureBursts)
			return m.afterBare(m.ours) / m.codex.flow
		}, 5, true},
		{"100 of 10,000 threads, times of 1,000", func(tb testing.TB) float64 {
			p := stdioPages.get(tb, none, measurePages)
			return float64(p.listMany) / float64(p.listFew)
		}, 1.2, false},
		{"page by page through 100,000 events, times 1,000", func(tb testing.TB) float64 {
			p := stdioPages.get(tb, none, measurePages)
			return float64(p.turnMany) / float64(p.turnFew)
		}, 1.2, false},
		{"one page anywhere in 100,000 events, times 1,000", func(tb testing.TB) float64 {
			p := stdioPages.get(tb, none, measurePages)
			return float64(p.jumpMany) / float64(p.jumpFew)
		}, 2, false}, // a hundred times the log, and not twice the time: an index that is deeper and colder
		{"branch of 1 M events, times of 1 k", func(tb testing.TB) float64 {
			b := branches.get(tb, none, measureBranch)
			return float64(b.end[lengths[len(lengths)-1]]) / float64(b.end[lengths[0]])
		}, 1.2, false},
		{"bytes that a branch of 1 M events adds to the database", func(tb testing.TB) float64 {
			return branches.get(tb, none, measureBranch).grown
		}, 4 << 10, false},
		{"resident bytes per parked session and event stream", func(tb testing.TB) float64 {
			return parkedSSE.get(tb, "harness", measureParkedSSE).rss
		}, 1024, false},
		{"goroutines per parked session and event stream", func(tb testing.TB) float64 {
			return parkedSSE.get(tb, "harness", measureParkedSSE).goroutines
		}, 0.001, false}, // a few of the process's own come and go
		{"resident bytes per event stream of net/http, times ours", func(tb testing.TB) float64 {
			return parkedSSE.get(tb, "nethttp", measureParkedSSE).rss / parkedSSE.get(tb, "harness", measureParkedSSE).rss
		}, 20, true},
		{"events to 1,000 readers of a stream, times a loop on net/http", func(tb testing.TB) float64 {
			f := fanoutsSSE.get(tb, 1000, measureFanoutSSE)
			return f.ours.deltas / f.plain.deltas
		}, 10, true},
		{"what the bridge adds to a delta of claude: p50 ms", func(tb testing.TB) float64 {
			return bridges.get(tb, "claude BenchmarkBridge", measureBridge)["added-ms/delta"]
		}, 2, false},
		{"the same of codex", func(tb testing.TB) float64 {
			return bridges.get(tb, "codex BenchmarkBridge", measureBridge)["added-ms/delta"]
		}, 2, false},
		{"the same of opencode", func(tb testing.TB) float64 {
			return bridges.get(tb, "acp BenchmarkBridge", measureBridge)["added-ms/delta"]
		}, 2, false},
		{"the same of an ACP agent that says it at once", func(tb testing.TB) float64 {
			return bridges.get(tb, "acp BenchmarkOwn", measureBridge)["added-ms/delta"]
		}, 2, false},
		{"deltas to 100 watchers per CPU behind the gate, times without", func(tb testing.TB) float64 {
			return gateds.get(tb, 100, measureGated).deltas.gated.median()
		}, 0.97, true},
		{"the same of 10", func(tb testing.TB) float64 {
			return gateds.get(tb, 10, measureGated).deltas.gated.median()
		}, 0.97, true},
		{"how far two servers without a gate are from the same", func(tb testing.TB) float64 {
			return math.Abs(1 - gateds.get(tb, 10, measureGated).deltas.same.median())
		}, 0.02, false},
		{"deltas per allocated byte behind the gate, times without", func(tb testing.TB) float64 {
			return gateds.get(tb, 10, measureGated).bytes.gated.median()
		}, 0.97, true},
		{"commands per CPU behind the gate, times without", func(tb testing.TB) float64 {
			return gateds.get(tb, 10, measureGated).commands.gated.median()
		}, 0.9, true},
	} {
		t.Run(g.name, func(t *testing.T) {
			switch got := g.measure(t); {
			case g.least && got < g.limit:
				t.Errorf("%.4g, demanded at least %.4g", got, g.limit)
			case !g.least && got > g.limit:
				t.Errorf("%.4g, demanded at most %.4g", got, g.limit)
			default:
				t.Logf("%.4g (limit %.4g)", got, g.limit)
			}
		})
	}
}
