package object_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"harness/internal/object"
)

// FuzzApply: whatever the operations are, nothing panics, a refused batch
// leaves the document as it was, and what a batch makes is valid JSON.
func FuzzApply(f *testing.F) {
	for _, r := range rules {
		f.Add([]byte(r.doc), []byte(r.ops))
	}
	for i := range uint64(20) {
		c := newChance(seed, i, inherited)
		doc := c.value(0)
		f.Add(doc, encode(c.batch(doc, 8)))
	}
	f.Fuzz(func(t *testing.T, doc, frame []byte) {
		var tree object.Tree
		err := tree.Apply([]object.Op{{Kind: object.Set, Value: doc}})
		if valid := json.Valid(doc); err == nil && !valid || errors.Is(err, object.ErrValue) && valid {
			t.Fatalf("set %q: %v", doc, err)
		}
		var ops []object.Op
		if err := json.Unmarshal(frame, &ops); err != nil {
			return
		}
		before := tree.AppendJSON(nil)
		err = tree.Apply(ops)
		after := tree.AppendJSON(nil)
		if err != nil && string(after) != string(before) {
			t.Fatalf("refused %s (%v)\n changed %s\n      to %s", frame, err, before, after)
		}
		if !json.Valid(after) || !utf8.Valid(after) {
			t.Fatalf("not JSON: %q", after)
		}
		if err == nil {
			again := set(t, string(before))
			for i := range ops {
				if err := again.Apply(ops[i : i+1]); err != nil {
					t.Fatalf("operation %d is taken in a batch, not alone: %v", i, err)
				}
			}
			if alone := again.AppendJSON(nil); string(alone) != string(after) {
				t.Fatalf("in a batch %s\n     alone %s", after, alone)
			}
		}
		back := set(t, string(after))
		if got := back.AppendJSON(nil); string(got) != string(after) {
			t.Fatalf("%s reads back as %s", after, got)
		}
		again := object.Tree{Lax: true}
		if err := again.Apply(ops); err != nil {
			t.Fatalf("a lax tree refused: %v", err)
		}
	})
}

// FuzzMerge: operations that can be applied lead to the same document folded
// and unfolded, wherever the frame is cut.
func FuzzMerge(f *testing.F) {
	for _, r := range rules {
		f.Add([]byte(r.doc), []byte(r.ops), uint8(2))
	}
	for i := range uint64(40) {
		c := newChance(seed, i, inherited)
		doc := c.value(0)
		f.Add(doc, encode(c.batch(doc, 20)), uint8(i))
	}
	f.Fuzz(func(t *testing.T, doc, frame []byte, cut uint8) {
		var whole, folded object.Tree
		start := []object.Op{{Kind: object.Set, Value: doc}}
		if whole.Apply(start) != nil || folded.Apply(start) != nil {
			return
		}
		var ops []object.Op
		if json.Unmarshal(frame, &ops) != nil {
			return
		}
		ops = slices.DeleteFunc(ops, func(op object.Op) bool { return whole.Apply([]object.Op{op}) != nil })
		var pending object.Pending
		for i := range ops {
			pending.Add(&ops[i])
			if i != int(cut) && i != len(ops)-1 {
				continue
			}
			sent := pending.AppendJSON(nil)
			pending.Reset()
			var some []object.Op
			if err := json.Unmarshal(sent, &some); err != nil {
				t.Fatalf("%s: %v", sent, err)
			}
			for _, op := range some {
				if op.Kind == object.AppendText && op.Text == "" {
					t.Fatalf("empty text in %s", sent)
				}
			}
			if err := folded.Apply(some); err != nil {
				t.Fatalf("%s\n folded to %s: %v", encode(ops), sent, err)
			}
		}
		if got, want := folded.AppendJSON(nil), whole.AppendJSON(nil); string(got) != string(want) {
			t.Fatalf("%s\n   folded %s\n unfolded %s", encode(ops), got, want)
		}
	})
}

// FuzzEncodeString: JSON gives the text back, cut or whole, with U+FFFD for
// what was no text, and Tail agrees.
func FuzzEncodeString(f *testing.F) {
	for _, s := range texts {
		f.Add(s, 3)
	}
	f.Add("\xf0\x9f\x98", 2)
	f.Add("<a href=\"&\">\x7f\x1f", 1)
	f.Add("0123456\"01234567\\0123456\n01234567é01234567", 9)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		want := string([]rune(s)) // one U+FFFD for each invalid byte
		enc := object.AppendString(nil, s)
		var got string
		if err := json.Unmarshal(enc, &got); err != nil {
			t.Fatalf("%q: %v", enc, err)
		}
		if got != want || !utf8.Valid(enc) {
			t.Fatalf("%q became %q", s, got)
		}
		if bytes := object.AppendString(nil, []byte(s)); string(bytes) != string(enc) {
			t.Fatalf("as bytes %s, as string %s", bytes, enc)
		}
		if strings.ContainsAny(string(enc), "\n\r") {
			t.Fatalf("%q breaks a line", enc)
		}
		normal, err := object.Normalize(enc)
		if err != nil || string(normal) != string(enc) {
			t.Fatalf("normal form of %s is %s (%v)", enc, normal, err)
		}
		cut = max(0, min(cut, len(s)))
		var tail object.Tail
		pieces := tail.Next([]byte(s[:cut])) + tail.Next([]byte(s[cut:])) + tail.Close()
		if pieces != want {
			t.Fatalf("%q cut at %d gives %q", s, cut, pieces)
		}
	})
}
