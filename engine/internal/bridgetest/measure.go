package bridgetest

import (
	"bufio"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"harness/engine/agenttest"
	"harness/engine/enginetest"
	"harness/engine/internal/program"
)

// Raw is a program without us: how it is talked to, for two turns, of which the
// second is timed. In the first it is busy with itself.
type Raw struct {
	Args  []string
	Env   []string
	Greet string // the first lines
	// Hear takes a line. It returns text that is new in it, what to say next,
	// and whether a turn is over.
	Hear func(line []byte) (text, say string, over bool)
}

// run runs both turns. It returns the time to the first text.
func (r *Raw) run(b *testing.B, command, env []string, d *Delays) (start time.Duration) {
	b.Helper()
	dir := b.TempDir()
	cmd := exec.Command(command[0], slices.Concat(command[1:], r.Args)...)
	cmd.Dir = dir
	cmd.Env = slices.Concat([]string{program.Path, "HOME=" + dir, "TMPDIR=" + dir}, r.Env, env)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	say := func(text string) {
		if text != "" {
			_, _ = io.WriteString(in, text+"\n") // if it does not hear that, it says nothing either
		}
	}
	say(r.Greet)
	lines := bufio.NewReaderSize(out, 1<<20)
	for turns := 0; ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		text, next, over := r.Hear(line)
		if text != "" {
			d.Note(text)
		}
		if over {
			if turns++; turns == 1 {
				start, d.All = d.First.Sub(began), nil
			} else {
				in.Close()
				next = ""
			}
		}
		say(next)
	}
	_ = cmd.Wait()
	return start
}

// Measure measures, in one run, the real program alone and behind the engine:
// the age of a piece of text when it is read, or emitted; the time from nothing
// to the first piece, and of a turn in a process that was kept; what such a
// session holds.
func (b *Bridge) Measure(tb *testing.B, raw Raw) {
	args, env := b.Behind(Clock(tb))
	command := slices.Concat([]string{agenttest.Installed(tb, b.Package)}, b.Args, args)
	var alone, bridged, aloneStart, bridgedStart, warm []time.Duration
	var heap, rss float64
	for tb.Loop() {
		var d Delays
		start := raw.run(tb, command, env, &d)
		alone, aloneStart = append(alone, d.All...), append(aloneStart, start)

		before := allocated()
		e, place := b.Place(tb, command, program.Options{Env: env})
		h := &Timed{Host: enginetest.NewHost("ses_1")}
		for _, starts := range []*[]time.Duration{&bridgedStart, &warm} {
			h.Delays = Delays{}
			turn := h.Begin("go")
			if b.Config.Model != nil {
				turn.Config.Model = *b.Config.Model
			}
			began := time.Now()
			if err := e.Run(tb.Context(), turn, h); err != nil {
				tb.Fatal(err)
			}
			*starts = append(*starts, h.First.Sub(began))
			h.End(nil)
		}
		bridged = append(bridged, h.All...) // of the second turn
		heap, rss = float64(allocated())-float64(before), Resident(place.Processes())
		if err := e.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	tb.ReportMetric(Median(alone), "alone-ms/delta")
	tb.ReportMetric(Median(bridged), "bridged-ms/delta")
	tb.ReportMetric(Median(bridged)-Median(alone), "added-ms/delta")
	tb.ReportMetric(Median(aloneStart), "alone-ms/start")
	tb.ReportMetric(Median(bridgedStart), "bridged-ms/start")
	tb.ReportMetric(Median(warm), "bridged-ms/warm")
	tb.ReportMetric(heap/1024, "engine-KB")
	tb.ReportMetric(rss, "process-MB")
}

// MeasureWarm measures a turn of a program that answers at once: what is left is
// ours, its hand-offs through two pipes included.
func (b *Bridge) MeasureWarm(tb *testing.B) {
	e, _ := b.Place(tb, []string{Self(tb)}, program.Options{Env: []string{"HARNESS_TEST_ROLE=fault", "HARNESS_TEST_STORY="}})
	h := enginetest.NewHost("ses_1")
	for tb.Loop() {
		if err := e.Run(tb.Context(), h.Begin("right"), h); err != nil {
			tb.Fatal(err)
		}
		h.End(nil)
	}
}

// allocated is what lives on the heap.
func allocated() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
