package bench

import (
	"context"
	"fmt"
	"testing"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// fanoutSSE is one row: the same number of readers on two servers.
type fanoutSSE struct {
	ours  rate
	plain rate
}

// measureFanoutSSE has both servers in turn send bursts of equal events to so
// many readers and waits until the last one was read, in interleaved rounds,
// and takes the median round of each.
func measureFanoutSSE(tb testing.TB, readers int) fanoutSSE {
	rounds, burst := 5, 2000
	if readers < 1000 {
		burst = 10000
	}
	if long() {
		rounds = 11
	}
	ours := startStream(tb, readers)
	defer ours.close()
	plain := startPlain(tb, readers, ours.event(tb))
	defer plain.close()
	var all [2][]rate
	for range rounds + 1 {
		all[0] = append(all[0], ours.round(tb, burst))
		all[1] = append(all[1], plain.round(tb, max(burst/20, 20))) // its rate does not depend on the burst
	}
	mid := func(r []rate) rate {
		var events, bytes, cpu []float64
		for _, x := range r[1:] { // the first warms up
			events, bytes, cpu = append(events, x.deltas), append(bytes, x.bytes), append(cpu, x.cpu)
		}
		return rate{deltas: median(events), bytes: median(bytes), cpu: median(cpu)}
	}
	return fanoutSSE{mid(all[0]), mid(all[1])}
}

// streamer is the product: a session whose engine emits, with an audience.
type streamer struct {
	*restServer
	st       harness.Store
	tap      *faucet
	audience *child
}

const streamed = harness.SessionID("ses_fan")

func startStream(tb testing.TB, readers int) *streamer {
	tb.Helper()
	s := &streamer{st: memory.New(), tap: newFaucet()}
	var err error
	if s.restServer, err = serveREST(s.st, s.tap, kernel.Options{Window: -1}, nil); err != nil {
		tb.Fatal(err)
	}
	ctx := context.Background()
	if _, err := s.k.Create(ctx, harness.NewSession{ID: streamed}); err != nil {
		tb.Fatal(err)
	}
	if _, err := s.k.Do(ctx, streamed, harness.Submit{Parts: harness.TextPart("pour"), Source: harness.FromTurn}); err != nil {
		tb.Fatal(err)
	}
	if err := s.tap.pour(2, chunk(deltaText)); err != nil {
		tb.Fatal(err)
	}
	s.audience = startChild(tb, "audience")
	s.audience.ask(ask{Do: "dial", Addr: s.addr, Path: streamPath(streamed), N: readers})
	s.audience.ask(ask{Do: "await", Total: turnEvents - 1})
	return s
}

// event is one of those that are sent, as it is sent.
func (s *streamer) event(tb testing.TB) []byte {
	tb.Helper()
	b, err := sseBytes(s.st, streamed, 3)
	if err != nil {
		tb.Fatal(err)
	}
	return b[:len(b)/2]
}

func (s *streamer) round(tb testing.TB, n int) rate {
	return race(s.audience, n, func(n int) error { return s.tap.pour(n, chunk(deltaText)) })
}

func (s *streamer) close() {
	s.tap.end()
	s.audience.end()
	s.restServer.close()
}

// plainStreamer is net/http.
type plainStreamer struct {
	*plainSSE
	event    []byte
	audience *child
}

func startPlain(tb testing.TB, readers int, event []byte) *plainStreamer {
	tb.Helper()
	s, err := servePlainSSE(nil)
	if err != nil {
		tb.Fatal(err)
	}
	p := &plainStreamer{s, event, startChild(tb, "audience")}
	p.audience.ask(ask{Do: "dial", Addr: s.addr, Path: "/", N: readers})
	until(tb, func() bool { return s.readers() == readers })
	return p
}

func (p *plainStreamer) round(tb testing.TB, n int) rate {
	return race(p.audience, n, func(n int) error {
		for range n {
			if err := p.publish(p.event); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *plainStreamer) close() {
	p.audience.end()
	p.plainSSE.close()
}

// BenchmarkFanOutSSE is one session's events to so many readers of its stream,
// beside a loop on net/http that writes and flushes the same bytes.
func BenchmarkFanOutSSE(b *testing.B) {
	for _, readers := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			f := fanoutsSSE.get(b, readers, measureFanoutSSE)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(f.ours.deltas, "events/s")
			b.ReportMetric(f.ours.bytes/1e6, "MB/s")
			b.ReportMetric(f.ours.cpu, "cpu-ns/event")
			b.ReportMetric(f.plain.deltas, "nethttp-events/s")
			b.ReportMetric(f.plain.cpu, "nethttp-cpu-ns/event")
			b.ReportMetric(f.ours.deltas/f.plain.deltas, "x-nethttp")
		})
	}
}

var fanoutsSSE memo[int, fanoutSSE]
