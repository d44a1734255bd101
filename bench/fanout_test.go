package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// rate is what one server delivered, per second, summed over its watchers,
// and what that cost it.
type rate struct {
	deltas, frames, bytes float64
	cpu                   float64 // ns of the server's process per delivered delta
	resyncs               int64   // whole states that watchers got instead of deltas
}

// fanout is one row: the same number of watchers on four servers.
type fanout struct {
	ours       rate // each commit is a frame
	merged     rate // the default windows of 16 ms
	bare       rate
	centrifuge rate
}

// deltaText makes one delta, framed alone, a message of 200 bytes.
const deltaText = 94

// measureFanout has each server in turn send bursts of equal deltas to so many
// watchers and waits until the last one was read, in interleaved rounds, and
// takes the median round of each.
func measureFanout(tb testing.TB, watchers int) fanout {
	rounds, burst := 5, 2000
	if watchers < 1000 {
		burst = 20000
	}
	if long() {
		rounds = 11
	}
	ours := startPour(tb, watchers, -1)
	defer ours.close()
	merged := startPour(tb, watchers, 0)
	defer merged.close()
	floor := startBare(tb, watchers)
	defer floor.close()
	cent := startCentrifuge(tb, watchers)
	defer cent.close()

	var all [4][]rate
	for range rounds + 1 {
		for i, c := range []contestant{ours, merged, floor, cent} {
			n := burst
			if c == floor {
				n = max(burst/20, 20) // it is slow, and its rate does not depend on the burst
			}
			all[i] = append(all[i], c.round(tb, n))
		}
	}
	mid := func(r []rate) rate {
		r = r[1:] // the first warms up
		m := rate{}
		for _, f := range []struct {
			dst *float64
			get func(rate) float64
		}{
			{&m.deltas, func(r rate) float64 { return r.deltas }},
			{&m.frames, func(r rate) float64 { return r.frames }},
			{&m.bytes, func(r rate) float64 { return r.bytes }},
			{&m.cpu, func(r rate) float64 { return r.cpu }},
		} {
			var v []float64
			for _, x := range r {
				v = append(v, f.get(x))
			}
			*f.dst = median(v)
		}
		for _, x := range r {
			m.resyncs += x.resyncs
		}
		return m
	}
	return fanout{mid(all[0]), mid(all[1]), mid(all[2]), mid(all[3])}
}

// contestant sends n deltas to all its watchers and waits for them.
type contestant interface {
	round(tb testing.TB, n int) rate
	close()
}

// ahead is how far the sender may be ahead of the slowest watcher: as much as
// the product's tail holds by default, and little enough for centrifuge's queue.
const ahead = 1000

// race times one round of n deltas, sent in parts, until the slowest watcher
// has read the last.
func race(c *child, n int, send func(n int) error) rate {
	c.tb.Helper()
	was := c.ask(ask{Do: "reset"})
	cpu, start := cpuTime(), monotonic()
	for sent := 0; sent < n; {
		part := min(ahead/2, n-sent)
		if err := send(part); err != nil {
			c.tb.Fatal(err)
		}
		sent += part
		c.ask(ask{Do: "await", Total: was.Seq + int64(sent-part)})
	}
	a := c.ask(ask{Do: "await", Total: was.Seq + int64(n)})
	cpu = cpuTime() - cpu
	s := float64(a.At-start) / 1e9
	return rate{
		deltas: float64(a.Deltas) / s, frames: float64(a.Frames) / s, bytes: float64(a.Bytes) / s,
		cpu: float64(cpu) / float64(a.Deltas), resyncs: a.States - was.States,
	}
}

// pourer is the product: a session whose engine emits, watched by a crowd.
type pourer struct {
	*server
	tap      *faucet
	crowd    *child
	watchers int
}

func startPour(tb testing.TB, watchers int, window time.Duration) *pourer {
	tb.Helper()
	return startPourOn(tb, memory.New(), newFaucet(), watchers, 0, window)
}

func startPourOn(tb testing.TB, st harness.Store, tap *faucet, watchers, record int, window time.Duration) *pourer {
	tb.Helper()
	p := &pourer{tap: tap, watchers: watchers}
	do := delta.Options{Window: window}
	do.Socket.StallAfter = -1 // a stalled watcher is to stay
	p.server = mustServe(tb, st, tap, kernel.Options{Window: window}, do)
	p.crowd = startChild(tb, "crowd")
	id, err := p.k.Create(context.Background(), harness.NewSession{ID: "ses_fan"})
	if err != nil {
		tb.Fatal(err)
	}
	p.submit(tb, id, "pour")
	p.crowd.ask(ask{Do: "dial", Addr: p.addr, Path: "/ws?sessionId=ses_fan", N: watchers, Kind: "harness", Record: record})
	p.crowd.ask(ask{Do: "states", Total: int64(watchers)})
	return p
}

func (p *pourer) round(tb testing.TB, n int) rate {
	return race(p.crowd, n, func(n int) error { return p.tap.pour(n, chunk(deltaText)) })
}

func (p *pourer) close() {
	p.tap.end()
	p.crowd.end()
	p.server.close()
}

// loop is the floor.
type loop struct {
	*bare
	crowd    *child
	watchers int
}

func startBare(tb testing.TB, watchers int) *loop {
	tb.Helper()
	b, err := serveBare()
	if err != nil {
		tb.Fatal(err)
	}
	l := &loop{b, startChild(tb, "crowd"), watchers}
	l.crowd.ask(ask{Do: "dial", Addr: b.addr, Path: "/", N: watchers, Kind: "plain"})
	return l
}

func (l *loop) round(tb testing.TB, n int) rate {
	fds := l.fds()
	frame := append([]byte{0x81, 126, 0, 200}, message()...)
	return race(l.crowd, n, func(n int) error {
		for range n {
			if err := l.writeAll(fds, frame); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *loop) close() {
	l.crowd.end()
	l.bare.close()
}

// message is a delta of 200 bytes as a server of messages would send it.
func message() []byte {
	b := []byte(`{"type":"delta","seq":12345678,"operations":[{"type":"append-text","path":["messages","1","content"],"value":"`)
	b = append(b, chunk(200-len(b)-len(`"}]}`))...)
	return append(b, `"}]}`...)
}

// publisher is centrifuge.
type publisher struct {
	*other
	crowd    *child
	watchers int
}

func startCentrifuge(tb testing.TB, watchers int) *publisher {
	tb.Helper()
	o, err := serveCentrifuge()
	if err != nil {
		tb.Fatal(err)
	}
	p := &publisher{o, startChild(tb, "crowd"), watchers}
	p.crowd.ask(ask{Do: "dial", Addr: o.addr, Path: "/", N: watchers, Kind: "centrifuge", Size: len(pushed(message()))})
	until(tb, func() bool { return o.node.Hub().NumSubscriptions() == watchers })
	return p
}

func (p *publisher) round(tb testing.TB, n int) rate {
	data := message()
	if !json.Valid(data) {
		tb.Fatalf("not JSON: %s", data)
	}
	return race(p.crowd, n, func(n int) error {
		for range n {
			if err := p.publish(data); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *publisher) close() {
	p.crowd.end()
	p.other.close()
}

// BenchmarkFanOut is one session's deltas to so many watchers. A delta is one
// event of the log; ours carries several in one frame where they were durable
// together or a watcher is behind, so frames/s and MB/s are told as well.
func BenchmarkFanOut(b *testing.B) {
	for _, watchers := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			f := fanouts.get(b, watchers, measureFanout)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(f.ours.deltas, "deltas/s")
			b.ReportMetric(f.ours.frames, "frames/s")
			b.ReportMetric(f.ours.bytes/1e6, "MB/s")
			b.ReportMetric(f.ours.cpu, "cpu-ns/delta")
			b.ReportMetric(f.merged.deltas, "a16-deltas/s")
			b.ReportMetric(f.merged.frames, "a16-frames/s")
			b.ReportMetric(f.bare.deltas, "bare-msg/s")
			b.ReportMetric(f.centrifuge.deltas, "centrifuge-msg/s")
			b.ReportMetric(f.centrifuge.frames, "centrifuge-frames/s")
			b.ReportMetric(f.centrifuge.cpu, "centrifuge-cpu-ns/msg")
			b.ReportMetric(f.ours.deltas/f.bare.deltas, "x-bare")
			b.ReportMetric(f.ours.deltas/f.centrifuge.deltas, "x-centrifuge")
			b.ReportMetric(float64(f.ours.resyncs+f.merged.resyncs), "resyncs")
		})
	}
}
