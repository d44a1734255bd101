package bridgetest

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"harness/engine/agenttest"
	"harness/engine/enginetest"
	"harness/engine/internal/program"
)

// Measured is what a session costs behind an engine.
type Measured struct {
	Age, Added   []time.Duration // of pieces of text: when they could be read, and from then until they were emitted
	Start, Own   []time.Duration // from nothing to the first piece, and of that without the program
	Warm         []time.Duration // the same in a process that was kept
	Heap, Memory float64         // of such a session: of the engine, in bytes, and of the program, in MB
}

// turns runs two turns of a program, of which the second is measured piece by
// piece: in the first it is busy with itself. The program prints into a pipe
// that is watched (see [Tap]), so the engine's part is known of each piece by
// itself, however long the program had it.
func (m *Measured) turns(tb testing.TB, b *Bridge, command, env []string) {
	tb.Helper()
	dir := tb.TempDir()
	before := allocated()
	e, place := b.Place(tb, slices.Concat([]string{Self(tb)}, command), program.Options{Env: append(slices.Clone(env), "HARNESS_TEST_ROLE=tap", "HARNESS_TEST_DIR="+dir)})
	h := &Timed{Host: enginetest.NewHost("ses_1")}
	var asked, first time.Time
	for n := range 2 {
		h.At, h.First = make(map[string]time.Time), time.Time{}
		turn := h.Begin("go")
		if b.Config.Model != nil {
			turn.Config.Model = *b.Config.Model
		}
		at := time.Now()
		if err := e.Run(tb.Context(), turn, h); err != nil {
			tb.Fatal(err)
		}
		if n == 0 {
			asked, first = at, h.First
		} else {
			m.Warm = append(m.Warm, h.First.Sub(at))
		}
		h.End(nil)
	}
	h.Host = nil // its log is not the engine's
	m.Heap, m.Memory = float64(allocated())-float64(before), Resident(place.Processes())
	if err := e.Close(); err != nil {
		tb.Fatal(err)
	}
	began, passed := Passed(tb, dir)
	readable := first
	for text, at := range passed {
		if at.Before(readable) {
			readable = at
		}
		emitted, ok := h.At[text]
		if !ok {
			continue // of the first turn
		}
		said, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		m.Age, m.Added = append(m.Age, at.Sub(time.Unix(0, said))), append(m.Added, emitted.Sub(at))
	}
	m.Start, m.Own = append(m.Start, first.Sub(asked)), append(m.Own, began.Sub(asked)+first.Sub(readable))
	if len(m.Added) == 0 || len(passed) != 2*deltas || len(h.At) != deltas {
		tb.Fatalf("of 2 × %d pieces %d were printed, and of the second turn's %d emitted", deltas, len(passed), len(h.At))
	}
}

// Measure measures the real program behind the engine.
func (b *Bridge) Measure(tb *testing.B) {
	args, env := b.Behind(Clock(tb))
	b.measure(tb, slices.Concat(agenttest.Command(tb, b.Package), b.Args, args), env)
}

// MeasureOwn measures a program of our own that says what time it is.
func (b *Bridge) MeasureOwn(tb *testing.B) {
	b.measure(tb, []string{Self(tb)}, []string{"HARNESS_TEST_THEN=fault", "HARNESS_TEST_STORY=clock"})
}

func (b *Bridge) measure(tb *testing.B, command, env []string) {
	tb.Helper()
	var m Measured
	for tb.Loop() {
		m.turns(tb, b, command, env)
	}
	tb.ReportMetric(Median(m.Age), "program-ms/delta")
	tb.ReportMetric(Median(m.Added), "added-ms/delta")
	tb.ReportMetric(float64(m.Added[len(m.Added)*99/100].Microseconds())/1000, "added-ms/p99")
	tb.ReportMetric(Median(m.Start), "ms/start")
	tb.ReportMetric(Median(m.Own), "own-ms/start")
	tb.ReportMetric(Median(m.Warm), "ms/warm")
	tb.ReportMetric(m.Heap/1024, "engine-KB")
	tb.ReportMetric(m.Memory, "process-MB")
}

// Watched checks that every piece that an own program says is seen on its way:
// where it can be read, and then where it is emitted.
func (b *Bridge) Watched(t *testing.T) {
	var m Measured
	m.turns(t, b, []string{Self(t)}, []string{"HARNESS_TEST_THEN=fault", "HARNESS_TEST_STORY=clock"})
	if len(m.Added) != deltas || len(m.Start) != 1 || len(m.Warm) != 1 || m.Memory <= 0 {
		t.Errorf("measured %d pieces, %d starts, %d warm turns, %.1f MB", len(m.Added), len(m.Start), len(m.Warm), m.Memory)
	}
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
	runtime.GC() // what is pooled survives one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
