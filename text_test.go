package harness

import (
	"encoding/json"
	"testing"
	"unicode/utf16"
)

var texts = []string{"", "plain", "é", "日本語", "🙂", "a🙂b\u0301", "\u2028\u0000\x7f", "\xff", "a\xc3", "\xf0\x9f\x99", "\xed\xa0\x80", "👩‍👩‍👧‍👦", "\U0010ffff", "\ufffd"}

// Text counts as a browser does, whatever pieces it is made from.
func TestTextCountsInUTF16(t *testing.T) {
	t.Parallel()
	for _, a := range texts {
		for _, b := range texts {
			x := NewText(a)
			x.Append(b)
			checkText(t, x, string([]rune(a))+string([]rune(b)))
		}
	}
}

func checkText(t *testing.T, x Text, want string) {
	t.Helper()
	if x.String() != want || !x.Is(want) || x.Len() != len(want) || x.IsZero() != (want == "") {
		t.Fatalf("text %q, want %q", x.String(), want)
	}
	if units := len(utf16.Encode([]rune(want))); x.Units() != units {
		t.Fatalf("%q has %d units, counted %d", want, units, x.Units())
	}
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	var again Text
	if err := json.Unmarshal(b, &again); err != nil || again.String() != want || again.Units() != x.Units() {
		t.Fatalf("%s reads as %q, %v", b, again.String(), err)
	}
}

func TestTextCloneDoesNotGrow(t *testing.T) {
	t.Parallel()
	x := NewText("start")
	x.Append(" and more") // leaves room behind it
	a, b := x.Clone(), x.Clone()
	x.Append("X")
	a.Append("A")
	b.Append("B")
	if x.String() != "start and moreX" || a.String() != "start and moreA" || b.String() != "start and moreB" {
		t.Errorf("%q %q %q", x.String(), a.String(), b.String())
	}
}

func FuzzText(f *testing.F) {
	for _, s := range texts {
		f.Add(s, "🙂")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x := NewText(a)
		x.Append(b)
		checkText(t, x, string([]rune(a))+string([]rune(b)))
	})
}

// Arguments reach clients as an object that no JavaScript client chokes on.
func TestSafeInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{``, ``},
		{`null`, ``},
		{`{"a": 1 }`, `{"a":1}`},
		{` {"a":"<b>"} `, `{"a":"<b>"}`},
		{`[1,2]`, `{"value":[1,2]}`},
		{`"x"`, `{"value":"x"}`},
		{`{"a`, ``},
		{`{"__proto__":1}`, ``},
		{`{"a":[{"b":{"constructor":1}}]}`, ``},
		{`[{"prototype":{}}]`, ``},
		{`{"\u005f_proto__":1}`, ``},
		{`{"a":"__proto__"}`, `{"a":"__proto__"}`},
		{`{"n":12345678901234567890}`, `{"n":12345678901234567890}`},
	} {
		if got := string(safeInput(json.RawMessage(c.in))); got != c.want {
			t.Errorf("safeInput(%s) = %s, want %s", c.in, got, c.want)
		}
	}
}
