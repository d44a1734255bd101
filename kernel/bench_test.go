package kernel_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// benchRig is a kernel whose engine takes what to emit from a channel.
func benchRig(b *testing.B, st harness.Store, redact kernel.Redactor) (*rig, chan harness.Payload) {
	b.Helper()
	facts := make(chan harness.Payload)
	r := &rig{t: b, id: "ses_1"}
	r.bootWith(st, &engine{func(a *attempt) error {
		for p := range facts {
			if err := a.host.Emit(a.ctx, p); err != nil {
				return err
			}
		}
		return nil
	}}, &kernel.Options{Window: -1, Redact: redact})
	return r, facts
}

// BenchmarkEmit is one streamed word from the engine to the memory store: the
// merging, the encoding, the fold and the tail. events/word says how many
// words became one event.
func BenchmarkEmit(b *testing.B) { benchEmit(b, nil) }

// BenchmarkEmitRedacted is the same with a redactor.
func BenchmarkEmitRedacted(b *testing.B) { benchEmit(b, newRedactor(b)) }

func benchEmit(b *testing.B, redact kernel.Redactor) {
	st := memory.New()
	r, facts := benchRig(b, st, redact)
	r.create(harness.NewSession{ID: r.id})
	r.submit("go")
	before := r.state().Seq
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		facts <- &harness.Token{Text: "word "}
		n++
	}
	close(facts)
	b.StopTimer()
	end := r.rest().Seq
	b.ReportMetric(float64(end-before)/float64(n), "events/word")
}

// BenchmarkCommand is a command that is one event, from Do to its receipt.
func BenchmarkCommand(b *testing.B) {
	r, facts := benchRig(b, memory.New(), nil)
	defer close(facts)
	r.create(harness.NewSession{ID: r.id})
	models := [2]string{"a", "b"}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		r.do(harness.Configure{Patch: harness.ConfigPatch{Model: &models[n%2]}})
		n++
	}
}

// perEvent is what a durable event costs in a session with a history.
func perEvent(b *testing.B, history int) time.Duration {
	st := memory.New()
	long(b, st, "ses_1", history)
	r, facts := benchRig(b, st, nil)
	defer func() { r.k.Close() }()
	r.submit("go")
	const events = 20_000
	step := func() {
		for i := range events / 2 {
			id := harness.CallID(fmt.Sprint("c", i%100, "_", time.Now().UnixNano()))
			facts <- &harness.ToolCall{ToolCallID: id, Name: "ls"}
			facts <- &harness.ToolOutcome{ToolCallID: id, Status: harness.OutcomeOK}
		}
	}
	began := time.Now()
	step()
	d := time.Since(began)
	close(facts)
	r.rest()
	return d / events
}

// BenchmarkCostPerEvent compares a long history with a short one: the ratio
// must stay near 1.
func BenchmarkCostPerEvent(b *testing.B) {
	for b.Loop() {
		var short, much time.Duration
		for range 3 { // alternating, so that a busy machine hits both
			short += perEvent(b, 1_000)
			much += perEvent(b, 1_000_000)
		}
		b.ReportMetric(float64(short.Nanoseconds())/3, "ns/event@1k")
		b.ReportMetric(float64(much.Nanoseconds())/3, "ns/event@1M")
		b.ReportMetric(float64(much)/float64(short), "ratio")
	}
}

// BenchmarkAttach is the time to a watcher's first update of a sleeping
// session: it must not grow with the history.
func BenchmarkAttach(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			st := memory.New()
			long(b, st, "ses_1", n)
			r, facts := benchRig(b, st, nil)
			defer close(facts)
			b.ReportAllocs()
			for b.Loop() {
				for up, err := range r.k.Watch(b.Context(), r.id, 0) {
					if err != nil || up.State == nil {
						b.Fatal(err)
					}
					break
				}
			}
		})
	}
}

// The cost of an event does not grow with the history. The bound is loose in
// tests, where other work shares the machine; the benchmark measures it.
func TestCostPerEventDoesNotGrow(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 builds a million events")
	}
	testing.Benchmark(func(b *testing.B) {
		best := 100.0
		for range 3 {
			best = min(best, float64(perEvent(b, 1_000_000))/float64(perEvent(b, 1_000)))
		}
		if best > 1.2 {
			t.Errorf("an event costs %.2f times as much after a million", best)
		}
	})
}
