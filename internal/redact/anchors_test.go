package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// walk is run without anchors: every byte is read.
func walk(a *automaton, s int32, b string) (end int32, ok bool) {
	for i := range len(b) {
		s = a.next[int(s)*a.width+int(a.class[b[i]])]
		if a.found[s] > 0 || a.begun[s] != 0 {
			return s, false
		}
	}
	return s, true
}

// sameAsWalk reads a text in parts, both ways.
func sameAsWalk(t *testing.T, a *automaton, parts ...string) {
	t.Helper()
	var s int32
	for i, p := range parts {
		want, clean := walk(a, s, p)
		got, ok := run(a, s, p)
		if inBytes, bytesOK := run(a, s, []byte(p)); inBytes != got || bytesOK != ok {
			t.Fatalf("%q: part %d as text: %d, %t; as bytes: %d, %t", parts, i, got, ok, inBytes, bytesOK)
		}
		if ok != clean || ok && got != want {
			t.Fatalf("%q: behind part %d at %d, clean %t; byte by byte %d, %t", parts, i, got, ok, want, clean)
		}
		if !ok {
			return
		}
		s = want
	}
}

// cut cuts a text at random.
func cut(rnd *rand.Rand, text string) (parts []string) {
	for len(text) > 0 {
		n := 1 + rnd.IntN(min(len(text), 1+rnd.IntN(40)))
		parts, text = append(parts, text[:n]), text[n:]
	}
	return parts
}

// TestNothingIsMissedBetweenAnchors: with needles of few letters, so that they
// overlap, begin each other and end as others begin, and texts made of them.
func TestNothingIsMissedBetweenAnchors(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		letters := "abcdefgh-_ "[:2+rnd.IntN(10)]
		word := func(least, most int) string {
			b := make([]byte, least+rnd.IntN(most-least+1))
			for i := range b {
				b[i] = letters[rnd.IntN(len(letters))]
			}
			return string(b)
		}
		var needles []string
		var kinds []pattern
		for range 1 + rnd.IntN(5) {
			needles = append(needles, word(MinSecret, 24))
		}
		for range rnd.IntN(4) {
			kinds = append(kinds, pattern{prefix: word(2, 6), word: rnd.IntN(2) == 0})
		}
		a := build(needles, kinds)
		for range 20 {
			var text strings.Builder
			for range 1 + rnd.IntN(6) {
				n := needles[rnd.IntN(len(needles))]
				from := rnd.IntN(len(n))
				text.WriteString(n[from : from+rnd.IntN(len(n)-from)]) // at most all but its end
				text.WriteString(word(0, 12))
				text.WriteString(strings.Repeat("~", rnd.IntN(20)))
			}
			sameAsWalk(t, a, cut(rnd, text.String())...)
		}
	}
}

// FuzzRun compares with the way byte by byte for any values and texts.
func FuzzRun(f *testing.F) {
	f.Add("correct-horse-battery", "", "a bearer of correct-horses; sk- and npm_ and -----BEGI", uint64(1))
	f.Add("aaaaaaaaaa", "ÿÿÿÿÿÿÿÿ", "aaaaaaaaÿÿÿÿ", uint64(2))
	f.Add("\x00\x01\x02\x03\x04\x05\x06\x07", "tttttttte", "the tttttttt", uint64(3))
	f.Fuzz(func(t *testing.T, first, second, text string, seed uint64) {
		r := &Redactor{patterns: patterns()}
		for _, v := range []string{first, second} {
			if len(v) >= MinSecret && len(v) < 200 {
				if err := r.Add(v); err != nil {
					t.Fatal(err)
				}
			}
		}
		if r.automaton() == nil {
			t.Skip("no values")
		}
		rnd := rand.New(rand.NewPCG(seed, 7))
		sameAsWalk(t, r.automaton(), cut(rnd, text)...)
		for _, n := range r.needles { // what almost is one
			at := rnd.IntN(len(n))
			sameAsWalk(t, r.automaton(), cut(rnd, text+n[:at]+text)...)
			if _, ok := run(r.automaton(), 0, text+n+text); ok {
				t.Fatalf("%q is not found in %q", n, text+n+text)
			}
		}
	})
}

func BenchmarkRun(b *testing.B) {
	r, err := New("a-secret-of-the-benchmark", "hk_0123456789abcdefghijklmnopqrstuvwxyz")
	if err != nil {
		b.Fatal(err)
	}
	a := r.automaton()
	prose := "The engine reads the file, edits the second line and runs the tests again; all of them pass.\n"
	code := "\tif err := s.begin(ctx, sessions[i]); err != nil { return fmt.Errorf(\"begin %s: %w\", base_64, err) }\n"
	for name, text := range map[string]string{"prose": prose, "code": code} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				run(a, 0, text)
			}
		})
		b.Run(name+"/byte by byte", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				walk(a, 0, text)
			}
		})
	}
}
