package harness

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCallsTellWhatTheyChange in the words of every agent that there is.
func TestCallsTellWhatTheyChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input string
		want  Changes
	}{
		{`{"path":"a.go","content":"one\ntwo\n"}`, Changes{1, 2, 0}},
		{`{"file_path":"a.go","old_string":"a\nb\nc","new_string":"a\nB\nc\nd"}`, Changes{1, 2, 1}},
		{`{"path":"a.go","edits":[{"old":"x","new":"y"},{"oldText":"z","newText":""}]}`, Changes{1, 1, 2}},
		{`{"path":"a.go","diff":"--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,1 @@\n-gone\n stays\n"}`, Changes{1, 0, 1}},
		{`{"patch":"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n"}`, Changes{2, 1, 2}},
		{`{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@\n-y\n+z\n*** End Patch"}`, Changes{2, 2, 1}},
		{`{"input":"a question"}`, Changes{}},
		{`{"path":"a.go","limit":20}`, Changes{}},
		{`{"path":7,"content":"x"}`, Changes{}},
		{`{"command":"rm a.go"}`, Changes{}},
		{`[]`, Changes{}},
		{``, Changes{}},
	} {
		var got changed
		got.note(json.RawMessage(c.input))
		if got.Changes != c.want {
			t.Errorf("%s\n got %+v\nwant %+v", c.input, got.Changes, c.want)
		}
	}
}

// TestAFileIsCountedOnce however often it is changed, and only so many are.
func TestAFileIsCountedOnce(t *testing.T) {
	t.Parallel()
	var c changed
	for i := range 3 * MaxChanged {
		c.note(fmt.Appendf(nil, `{"path":"f%d","content":"x"}`, i%2))
	}
	if want := (Changes{2, 3 * MaxChanged, 0}); c.Changes != want {
		t.Errorf("got %+v, want %+v", c.Changes, want)
	}
	for i := range 3 * MaxChanged {
		c.note(fmt.Appendf(nil, `{"path":"g%d","content":"x"}`, i))
	}
	if c.Files != MaxChanged || len(c.Seen) != 4*MaxChanged {
		t.Errorf("got %d files and %d bytes of sums, want %d files", c.Files, len(c.Seen), MaxChanged)
	}
}

// TestADifferenceIsTheShortest: as a table of longest common lines has it.
func TestADifferenceIsTheShortest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(12) {
			fmt.Fprintln(&b, r.IntN(4))
		}
		return b.String()
	}
	for range 2000 {
		before, after := text(), text()
		a, b := lines(before), lines(after)
		common := make([][]int, len(a)+1)
		for i := range common {
			common[i] = make([]int, len(b)+1)
		}
		for i := range a {
			for j := range b {
				if common[i+1][j+1] = max(common[i][j+1], common[i+1][j]); a[i] == b[j] {
					common[i+1][j+1] = common[i][j] + 1
				}
			}
		}
		same := common[len(a)][len(b)]
		if come, gone := lineDifference(before, after); come != len(b)-same || gone != len(a)-same {
			t.Fatalf("%q to %q: got +%d -%d, want +%d -%d", before, after, come, gone, len(b)-same, len(a)-same)
		}
	}
}

// TestADifferenceOfManyLinesIsCheap: a line for a million of them, which a search
// without an end would take hours for, in the goroutine of the session.
func TestADifferenceOfManyLinesIsCheap(t *testing.T) {
	t.Parallel()
	const many = 1_000_000
	if come, gone := lineDifference("x", strings.Repeat("\n", many)); come != many || gone != 1 {
		t.Errorf("got +%d -%d", come, gone)
	}
	if come, gone := lineDifference(strings.Repeat("a\nb\n", 5000), strings.Repeat("b\nc\n", 5000)); come != 10_000 || gone != 10_000 {
		t.Errorf("got +%d -%d", come, gone)
	}
}
