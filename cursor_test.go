package harness_test

import (
	"errors"
	"strings"
	"testing"

	"harness"
)

func TestACursorReadsAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, kind := range harness.CursorKinds() {
		for _, id := range []harness.SessionID{"ses_1", "a:b", "::", "turn:1:2", "a.7", harness.SessionID(strings.Repeat("x", harness.MaxID))} {
			for _, seq := range []harness.Seq{1, 14, 1<<64 - 1} {
				want := harness.Cursor{Kind: kind, Session: id, Seq: seq}
				if got, err := harness.ParseCursor(want.String()); err != nil || got != want {
					t.Errorf("%s: %+v, %v", want, got, err)
				}
			}
		}
	}
	c, err := harness.ParseCursor("compact:serve_demo:14") // S3's example
	if err != nil || c != (harness.Cursor{Kind: harness.AtCompaction, Session: "serve_demo", Seq: 14}) {
		t.Errorf("S3's cursor is %+v, %v", c, err)
	}
}

func TestWhatIsNoCursorIsInvalid(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", ":", "::", "turn", "turn:1", "turn::1", "turn:a:", "turn:a:0", "turn:a:-1", "turn:a:+1", "turn:a:01", "turn:a: 1", "turn:a:1x",
		"turn:a:18446744073709551616", "Turn:a:1", ":a:1", "compaction:a:1", "turn:../a:1", "turn:.a:1", "turn:a b:1",
		"turn:" + strings.Repeat("x", harness.MaxID+1) + ":1", strings.Repeat("é", 1<<16),
	} {
		if c, err := harness.ParseCursor(s); !errors.Is(err, harness.ErrInvalid) || len(err.Error()) > 400 {
			t.Errorf("%.80q is %+v, %v", s, c, err)
		}
	}
}

func TestABranchPointIsNamedByEventOrCursor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event, cursor string
		want          harness.Branch
	}{
		{"", "", harness.Branch{Session: "s"}},
		{"s.7", "", harness.Branch{Session: "s", Seq: 7, Cursor: "event:s:7"}},
		{"parent.3", "", harness.Branch{Session: "s", Seq: 3, Cursor: "event:parent:3"}},
		{"", "turn:s:7", harness.Branch{Session: "s", Seq: 7, Cursor: "turn:s:7"}},
		{"s.7", "turn:s:7", harness.Branch{Session: "s", Seq: 7, Cursor: "turn:s:7"}},
	} {
		if got, err := harness.BranchAt("s", c.event, c.cursor); err != nil || *got != c.want {
			t.Errorf("event %q, cursor %q: %+v, %v", c.event, c.cursor, got, err)
		}
	}
	for _, c := range [][2]string{{"s", ""}, {"s.0", ""}, {"", "7"}, {"s.7", "turn:s:8"}, {"x", "turn:s:8"}, {"s.8", "x"}} {
		if got, err := harness.BranchAt("s", c[0], c[1]); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("event %q, cursor %q: %+v, %v", c[0], c[1], got, err)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	f.Add("compact:serve_demo:14")
	f.Add("turn:a:b:1")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := harness.ParseCursor(s)
		if err == nil && c.String() != s {
			t.Fatalf("%q reads as %q", s, c)
		}
		if err != nil && !errors.Is(err, harness.ErrInvalid) {
			t.Fatal(err)
		}
	})
}
