package bench

import (
	"context"
	"sort"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/store/memory"
)

// stamped is a memory store that notes when each commit was done. Noting costs
// next to nothing: it is part of what is measured.
type stamped struct {
	*memory.Store

	mu sync.Mutex // guards at
	at []stamp
}

// stamp says that the log ended at a position from a moment on.
type stamp struct{ seq, at int64 }

func newStamped() *stamped { return &stamped{Store: memory.New(), at: make([]stamp, 0, 1<<20)} }

func (s *stamped) Append(ctx context.Context, c harness.Commit) error {
	if err := s.Store.Append(ctx, c); err != nil {
		return err
	}
	now := monotonic()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, stamp{int64(c.Events[len(c.Events)-1].Seq), now})
	return nil
}

// latencies is how long after its commit each sampled delta's newest event was
// read.
func (s *stamped) latencies(samples []sample) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []time.Duration
	for _, x := range samples {
		i := sort.Search(len(s.at), func(i int) bool { return s.at[i].seq >= x.Seq })
		if i < len(s.at) {
			all = append(all, time.Duration(x.At-s.at[i].at))
		}
	}
	return all
}

// latency is how long a delta is on its way in a sparse stream to one watcher,
// beside the same number of bytes written straight to a socket by a goroutine
// that was just started: a program that writes because something has become
// durable was not running before. The same write by a goroutine that was is the
// floor of the floor: beside it nothing else of its program is awake.
//
// Each of the three has a client of its own, so that all clients have slept
// equally long: one that is woken twice as often reads some 12 µs sooner.
type latency struct{ p50, p99, bare50, bare99, hot50 time.Duration }

func measureLatency(tb testing.TB, _ struct{}) latency {
	rounds := 400
	if long() {
		rounds = 1000
	}
	st, tap := newStamped(), newFaucet()
	p := startPourOn(tb, st, tap, 1, 0, 0)
	defer p.close()
	p.crowd.ask(ask{Do: "sample", N: 1})
	started, hot := startSingle(tb), startSingle(tb)
	defer started.close()
	defer hot.close()
	text := chunk(deltaText)
	tick := time.NewTicker(25 * time.Millisecond) // longer than any window
	defer tick.Stop()
	for range rounds {
		<-tick.C
		go started.write(tb)
		<-tick.C
		tap.drip(text)
		<-tick.C
		hot.write(tb)
	}
	ours, bare := st.latencies(p.crowd.ask(ask{Do: "samples"}).Samples), started.latencies()
	return latency{quantile(ours, 0.5), quantile(ours, 0.99), quantile(bare, 0.5), quantile(bare, 0.99), quantile(hot.latencies(), 0.5)}
}

// single is one socket, and when it was written to.
type single struct {
	*loop
	fds   []int
	frame []byte

	mu sync.Mutex // guards at
	at []int64
}

func startSingle(tb testing.TB) *single {
	tb.Helper()
	l := startBare(tb, 1)
	l.crowd.ask(ask{Do: "sample", N: 1})
	return &single{loop: l, fds: l.fds(), frame: append([]byte{0x81, 126, 0, 200}, message()...)}
}

func (s *single) write(tb testing.TB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, monotonic())
	if err := s.writeAll(s.fds, s.frame); err != nil {
		tb.Error(err)
	}
}

// latencies is how long after it was written each frame was read.
func (s *single) latencies() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []time.Duration
	for i, x := range s.crowd.ask(ask{Do: "samples"}).Samples {
		all = append(all, time.Duration(x.At-s.at[i]))
	}
	return all
}

// BenchmarkLatency is durable commit to client read, one watcher, one delta
// every 75 ms.
func BenchmarkLatency(b *testing.B) {
	l := sparse.get(b, struct{}{}, measureLatency)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(l.p50.Microseconds()), "p50-µs")
	b.ReportMetric(float64(l.p99.Microseconds()), "p99-µs")
	b.ReportMetric(float64(l.bare50.Microseconds()), "bare-p50-µs")
	b.ReportMetric(float64(l.bare99.Microseconds()), "bare-p99-µs")
	b.ReportMetric(float64(l.hot50.Microseconds()), "hot-p50-µs")
	b.ReportMetric(float64(l.p50)/float64(l.bare50), "x-bare")
}
