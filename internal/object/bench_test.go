package object_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"harness/internal/object"
)

var usual = []string{"messages", "999", "content"}

// usualText makes an operation of 132 bytes.
const usualText = "The quick brown fox jumps over the lazy dog and tells all of it"

// floor measures one call of f in nanoseconds, best of five rounds of calls.
func floor(b *testing.B, calls int, f func()) float64 {
	b.Helper()
	b.StopTimer()
	defer b.StartTimer()
	best := time.Duration(1 << 62)
	for range 5 {
		start := time.Now()
		for range calls {
			f()
		}
		best = min(best, time.Since(start))
	}
	return float64(best.Nanoseconds()) / float64(calls)
}

func report(b *testing.B, floor float64, of string) {
	ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(1e3/ns, "Mops/s")
	b.ReportMetric(ns/floor, "x-"+of)
}

// Gate 5: at least 10 Mops/s without allocation: one operation applied to the
// document and folded into what is pending, a frame every 100.
func BenchmarkApplyAndFold(b *testing.B) {
	const text, perFrame = "tokn ", 100
	var copied []byte
	memcpy := floor(b, 20_000, func() {
		if copied = append(copied, text...); len(copied) > 1<<16 {
			copied = copied[:0]
		}
	})
	for _, c := range []struct {
		name string
		leaf bool
	}{{"handle", true}, {"path", false}} {
		b.Run(c.name, func(b *testing.B) {
			tree := set(b, conversation(1000))
			leaf, err := tree.Leaf(usual)
			if err != nil {
				b.Fatal(err)
			}
			op := []object.Op{{Kind: object.AppendText, Path: usual, Text: text}}
			again := []object.Op{{Kind: object.Set, Path: usual, Value: []byte(`""`)}}
			var pending object.Pending
			var frame []byte
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if c.leaf {
					err = leaf.Append(text)
				} else {
					err = tree.Apply(op)
				}
				if err != nil {
					b.Fatal(err)
				}
				pending.AppendText(usual, text)
				if n++; n%perFrame == 0 {
					frame = pending.AppendJSON(frame[:0])
					pending.Reset()
				}
				if n%20_000 == 0 {
					if err := tree.Apply(again); err != nil {
						b.Fatal(err)
					}
				}
			}
			report(b, memcpy, "memcpy")
		})
	}
}

// Gate 6: at least 3 Mops/s by path on a text that grows to the given number
// of operations, in a document of 1,000 messages; the same rate ten times as
// far on.
func BenchmarkGrowingText(b *testing.B) {
	const text = "tokn "
	for _, c := range []struct {
		name string
		ops  int
	}{{"20000", 20_000}, {"200000", 200_000}} {
		b.Run(c.name, func(b *testing.B) {
			copied := make([]byte, 0, c.ops*len(text))
			memcpy := floor(b, 20_000, func() {
				if copied = append(copied, text...); len(copied) == cap(copied) {
					copied = copied[:0]
				}
			})
			tree := set(b, conversation(1000))
			op := []object.Op{{Kind: object.AppendText, Path: usual, Text: text}}
			again := []object.Op{{Kind: object.Set, Path: usual, Value: []byte(`""`)}}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n++; n%c.ops == 0 {
					if err := tree.Apply(again); err != nil {
						b.Fatal(err)
					}
				}
				if err := tree.Apply(op); err != nil {
					b.Fatal(err)
				}
			}
			report(b, memcpy, "memcpy")
		})
	}
}

// Gate 7: at most 150 ns without allocation for one operation of 132 bytes.
func BenchmarkEncodeText(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"plain", usualText},
		{"escapes", "She said: \"né 😀\"\n\tand \\ went on, über alle Berge\u2028 and away…"},
	} {
		op := object.Op{Kind: object.AppendText, Path: usual, Text: c.text}
		wire := struct {
			Type  object.Kind `json:"type"`
			Path  []string    `json:"path"`
			Value string      `json:"value"`
		}{op.Kind, op.Path, op.Text}
		var buf bytes.Buffer
		std := json.NewEncoder(&buf)
		std.SetEscapeHTML(false)
		baseline := floor(b, 20_000, func() {
			buf.Reset()
			if err := std.Encode(&wire); err != nil {
				b.Fatal(err)
			}
		})
		var dst []byte
		b.Run(c.name+"/whole", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dst = op.AppendJSON(dst[:0])
			}
			report(b, baseline, "encoding/json")
		})
		b.Run(c.name+"/open", func(b *testing.B) {
			var enc object.Encoder
			b.ReportAllocs()
			for b.Loop() {
				dst = enc.AppendText(dst[:0], usual, c.text)
			}
			report(b, baseline, "encoding/json")
		})
	}
}

// A snapshot of 1,000 messages, against the compaction of the same bytes.
func BenchmarkSnapshot(b *testing.B) {
	tree := set(b, conversation(1000))
	dst := tree.AppendJSON(nil)
	var buf bytes.Buffer
	compact := floor(b, 200, func() {
		buf.Reset()
		if err := json.Compact(&buf, dst); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		dst = tree.AppendJSON(dst[:0])
	}
	b.SetBytes(int64(len(dst)))
	report(b, compact, "json.Compact")
}
