package remote_test

import (
	"strings"
	"testing"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/script"
)

// What a process of its own costs a turn: nothing but a few requests while the
// runner is warm, and its start when it is not.
func BenchmarkTurn(b *testing.B) {
	turn := func(b *testing.B, e harness.Engine, id harness.SessionID) {
		h := enginetest.NewHost(id)
		if err := e.Run(b.Context(), h.Begin("go"), h); err != nil {
			b.Fatal(err)
		}
	}
	const src = "say hello\n"
	b.Run("inside", func(b *testing.B) {
		s, err := script.Parse(src)
		if err != nil {
			b.Fatal(err)
		}
		for e := script.New(s, nil); b.Loop(); {
			turn(b, e, "ses_1")
		}
	})
	b.Run("warm", func(b *testing.B) {
		e, _ := runners(b, src)
		turn(b, e, "ses_1")
		for b.Loop() {
			turn(b, e, "ses_1")
		}
	})
	b.Run("cold", func(b *testing.B) {
		e, _ := runners(b, src)
		n := 0
		for b.Loop() {
			turn(b, e, harness.SessionID("ses_"+strings.Repeat("x", n%100)+string(rune('a'+n/100))))
			n++
		}
	})
}

// What each event costs on its way through a runner.
func BenchmarkEvent(b *testing.B) {
	e, _ := runners(b, "repeat 10000\n  say \"word \"\nend\n")
	for b.Loop() {
		h := enginetest.NewHost("ses_1")
		if err := e.Run(b.Context(), h.Begin("go"), h); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10000, "ns/event")
}
