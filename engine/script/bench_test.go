package script_test

import (
	"testing"

	"harness/engine/enginetest"
	"harness/engine/script"
)

// BenchmarkPlay is the cost of an event from the script to the fold of a host
// that keeps everything in memory.
func BenchmarkPlay(b *testing.B) {
	for _, c := range []struct {
		name, src string
		events    int
	}{
		{"say", "repeat 1000\nsay hello\nend", 1000},
		{"stream", "stream 1000 0s hello", 1000},
		{"call", "repeat 250\ncall bash {\"command\":\"ls\"} => a\nend", 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, err := script.Parse(c.src)
			if err != nil {
				b.Fatal(err)
			}
			e := script.New(s, nil)
			for b.Loop() {
				h := enginetest.NewHost("ses_1")
				if err := e.Run(b.Context(), h.Begin("go"), h); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(c.events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
