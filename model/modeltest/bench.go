package modeltest

import (
	"strings"
	"testing"

	"harness/model"
)

// Bench measures an answer of a thousand words over loopback, which the server
// writes word by word.
func Bench(b *testing.B, open func(testing.TB, Target) model.Client) {
	s := Serve(b, "say "+strings.TrimSpace(strings.Repeat("word ", 1000)))
	c := open(b, Target{URL: s.URL})
	r := Prompt("hi")
	b.ReportAllocs()
	for b.Loop() {
		chunks := 0
		for _, err := range c.Stream(b.Context(), r) {
			if err != nil {
				b.Fatal(err)
			}
			chunks++
		}
		if chunks < 1000 {
			b.Fatalf("%d chunks", chunks)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/word")
}
