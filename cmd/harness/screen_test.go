package main

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// newScreen is a screen of so many columns on a terminal that is kept.
func newScreen(width int, v *vt) *screen {
	return &screen{w: vtWriter{v}, moving: true, colours: true, size: func() (int, int) { return width, 12 }}
}

type vtWriter struct{ v *vt }

func (w vtWriter) Write(b []byte) (int, error) {
	w.v.write(string(b))
	return len(b), nil
}

// However text comes in pieces, and whatever is drawn below it meanwhile: what
// stays in the end is the same, no row is too long, and no word is torn that
// has room.
func TestWhatChangesNeverDisturbsWhatStays(t *testing.T) {
	t.Parallel()
	words := []string{"a", "tool", "漢字", "emoji😀", "a-rather-long-word", "\n", "\n\n", "tab\there", "é", strings.Repeat("x", 70), "\x1b[2J", "\r"}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		width := 21 + rng.IntN(60)
		var text strings.Builder
		for range 5 + rng.IntN(60) {
			text.WriteString(words[rng.IntN(len(words))])
			if rng.IntN(4) > 0 {
				text.WriteByte(' ')
			}
		}
		whole := newVT(width)
		s := newScreen(width, whole)
		s.write(dim, text.String())
		s.close()

		pieces := newVT(width)
		s = newScreen(width, pieces)
		for rest := []rune(text.String()); len(rest) > 0; {
			n := 1 + rng.IntN(min(8, len(rest)))
			s.write(dim, string(rest[:n]))
			rest = rest[n:]
			s.below = nil
			for range rng.IntN(4) {
				s.below = append(s.below, row{{yellow, "⠋ "}, {normal, strings.Repeat("live ", rng.IntN(30))}})
			}
			if err := s.flush(); err != nil {
				t.Fatal(err)
			}
		}
		s.close()
		if whole.String() != pieces.String() {
			t.Fatalf("seed %d, width %d: %q came out as\n%s\nin pieces:\n%s", seed, width, text.String(), whole, pieces)
		}
		if len(whole.odd)+len(pieces.odd) > 0 {
			t.Fatalf("seed %d: the terminal was given %q %q", seed, whole.odd, pieces.odd)
		}
		plain := &strings.Builder{}
		p := &screen{w: plain, size: s.size}
		p.write(dim, text.String())
		p.close()
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if squeeze(plain.String()) != squeeze(whole.String()) {
			t.Fatalf("seed %d: %q lost something:\n%s", seed, plain, whole)
		}
	}
}

func TestWordsAreWrappedWhole(t *testing.T) {
	t.Parallel()
	v := newVT(24)
	s := newScreen(24, v)
	for _, piece := range []string{"The quick brown f", "ox jumps over the la", "zy dog."} {
		s.write(normal, piece)
		s.flush()
	}
	if got, want := v.String(), "The quick brown fox\njumps over the lazy\ndog.\n"; got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
}

func TestATranscriptInAPipe(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	tr := &transcript{screen: &screen{w: &out, size: func() (int, int) { return 80, 24 }}}
	now := time.Unix(100, 0)
	tr.prompt("fix it\nplease")
	tr.begin(now)
	tr.say("\n\nhm", true)
	tr.say("m\n", true)
	tr.say("\nI will.\n", false)
	tr.toolBegins("c1", "bash", []byte(`{"command":"make test"}`), now)
	tr.toolSays("c1", "1\n2\n3")
	tr.toolSays("c1", "3\n4\n")
	tr.toolEnds("c1", "ok", "", "", 1500*time.Millisecond)
	tr.toolBegins("c2", "edit", []byte(`{"path":"a","text":"\u001b[2Jb"}`), now)
	tr.ask(question{id: "q", call: "c2", tool: "edit", text: "Change a", input: []byte(`{"path":"a","text":"one\n\u001b[2Jtwo"}`), reason: "You said so."})
	tr.answered("q", "reject", "by another client", now)
	tr.toolEnds("c2", "denied", "", "", 0)
	tr.say("\n\nDone.\n\n\n", false)
	tr.end()
	if err := tr.refresh(now); err != nil {
		t.Fatal(err)
	}
	if err := tr.close(); err != nil {
		t.Fatal(err)
	}
	const want = `› fix it
please

thinking: hmm

I will.

✓ bash make test  1.5s
  … 1 more line
  2
  33
  4
? edit  Change a
    path: a
    text: one
    ·[2Jtwo
    You said so.
  → rejected by another client
✗ edit a text=·[2Jb  0.0s
  denied

Done.
`
	if out.String() != want {
		t.Errorf("it is\n%s\nwant\n%s", &out, want)
	}
}

func TestALongLineOfATypistShowsItsEnd(t *testing.T) {
	t.Parallel()
	if got := tail([]rune("abcdefghij"), 5); got != "…ghij" {
		t.Errorf("it shows %q", got)
	}
	if got := string(withoutWord([]rune("one two  "))); got != "one " {
		t.Errorf("without its last word it is %q", got)
	}
}
