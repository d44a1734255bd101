package bench

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	"harness"
)

// slow is what watchers that stop reading do to the server and to others.
type slow struct {
	heap      float64       // bytes per stalled watcher, beyond what the same run without them grew
	with      time.Duration // p99 of the watchers that read, commit to read
	without   time.Duration
	resyncs   int64 // states that the stalled ones got when they read again
	different int   // recorded clients whose final state is not the server's
}

const stalled, reading = 200, 20

func measureSlow(tb testing.TB, _ struct{}) slow {
	span := 10 * time.Second
	if long() {
		span = 60 * time.Second
	}
	var all slow
	var with, without []time.Duration
	const rounds = 3
	for range rounds {
		none, some := runSlow(tb, 0, span), runSlow(tb, stalled, span)
		with, without = append(with, some.p99), append(without, none.p99)
		all.heap += float64(some.grown-none.grown) / stalled / rounds
		all.resyncs = some.resyncs
		all.different += none.different + some.different
	}
	all.with, all.without = median(with), median(without)
	return all
}

// slowRun is one stream of 1000 events a second.
type slowRun struct {
	grown     int64
	p99       time.Duration
	resyncs   int64
	different int
}

func runSlow(tb testing.TB, stall int, span time.Duration) slowRun {
	st, tap := newStamped(), newFaucet()
	p := startPourOn(tb, st, tap, reading, 1, 0)
	defer p.close()
	lazy := startChild(tb, "crowd")
	defer lazy.end()
	p.crowd.ask(ask{Do: "sample", N: reading})
	if stall > 0 {
		lazy.ask(ask{Do: "dial", Addr: p.addr, Path: "/ws?sessionId=ses_fan", N: stall, Kind: "harness", Buffer: 4 << 10, Record: 3})
		lazy.ask(ask{Do: "heard", N: stall, Total: 1})
		lazy.ask(ask{Do: "stall", N: stall})
	}
	before := footprint().Heap
	if err := tap.stream(span); err != nil {
		tb.Fatal(err)
	}
	r := slowRun{grown: footprint().Heap - before}
	samples := p.crowd.ask(ask{Do: "samples"})
	r.p99 = quantile(st.latencies(samples.Samples), 0.99)
	end := p.crowd.ask(ask{Do: "stats"}).Seq
	if stall > 0 {
		was := lazy.ask(ask{Do: "stats"}).States
		lazy.ask(ask{Do: "unstall", N: stall})
		lazy.ask(ask{Do: "await", Total: end})
		r.resyncs = lazy.ask(ask{Do: "stats"}).States - was
	}
	c := dial(tb, p.addr, "/ws?sessionId=ses_fan")
	defer c.close()
	want := new(mirror)
	want.take(tb, c.frame())
	for _, raw := range append(p.crowd.ask(ask{Do: "recorded"}).Raw, lazy.ask(ask{Do: "recorded"}).Raw...) {
		got, frames := new(mirror), &client{tb: tb, fd: -1, buf: raw}
		for len(frames.buf) > 0 {
			got.take(tb, frames.frame())
		}
		if !reflect.DeepEqual(got.state, want.state) {
			r.different++
		}
	}
	return r
}

// stream has the running turn emit 1000 events a second, ten at a time. The pauses
// are uneven: even ones beat with the window in which frames are merged, and what
// they measure is where they happened to begin.
func (f *faucet) stream(span time.Duration) error {
	done := make(chan error)
	f.jobs <- func(ctx context.Context, h harness.Host) error {
		rng := rand.New(rand.NewPCG(1, 2))
		next := time.Now()
		for end := next.Add(span); next.Before(end); next = next.Add(time.Duration(5+rng.IntN(11)) * time.Millisecond) {
			<-time.After(time.Until(next))
			if err := emit(ctx, h, 10, chunk(deltaText)); err != nil {
				done <- err
				return nil
			}
		}
		done <- nil
		return nil
	}
	return <-done
}

// mirror is a client's copy of the state.
type mirror struct{ state any }

// take applies a frame as S0 says.
func (m *mirror) take(tb testing.TB, frame []byte) {
	tb.Helper()
	var msg struct {
		Type       string
		State      any
		Operations []struct {
			Type  string
			Path  []string
			Value any
		}
	}
	if err := json.Unmarshal(frame, &msg); err != nil {
		tb.Fatalf("%.100s: %v", frame, err)
	}
	if msg.Type == "state" {
		m.state = msg.State
	}
	if m.state == nil {
		return
	}
	for _, op := range msg.Operations {
		m.state = put(m.state, op.Path, func(old any) any {
			if op.Type == "append-text" {
				return old.(string) + op.Value.(string)
			}
			return op.Value
		})
	}
}

func put(at any, path []string, f func(any) any) any {
	if len(path) == 0 {
		return f(at)
	}
	switch at := at.(type) {
	case map[string]any:
		at[path[0]] = put(at[path[0]], path[1:], f)
		return at
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i > len(at) {
			panic("no index " + path[0])
		}
		if i == len(at) {
			at = append(at, nil)
		}
		at[i] = put(at[i], path[1:], f)
		return at
	}
	panic("no place for " + path[0])
}

// BenchmarkSlowReaders is a stream of 1000 events a second to 20 watchers that
// read, without and with 200 that do not.
func BenchmarkSlowReaders(b *testing.B) {
	s := slows.get(b, struct{}{}, measureSlow)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(s.heap, "B-heap/stalled")
	b.ReportMetric(float64(s.with.Microseconds()), "p99-µs")
	b.ReportMetric(float64(s.without.Microseconds()), "p99-alone-µs")
	b.ReportMetric(float64(s.resyncs), "resyncs")
	b.ReportMetric(float64(s.different), "different-states")
}
