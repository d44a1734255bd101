package tool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, diff, after, fails string }{
		"as git writes it":     {"a\nb\nc\n", "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
		"wrong numbers":        {"x\na\nb\nc\n", "--- f\n+++ f\n@@ -40,1 +41,9 @@ func\n a\n-b\n+B\n c\n", "x\na\nB\nc\n", ""},
		"no numbers":           {"x\na\nb\nc\n", "@@ @@\n a\n-b\n", "x\na\nc\n", ""},
		"two hunks":            {"1\n2\n3\n4\n5\n6\n", "@@ -1,2 +1,3 @@\n 1\n+1b\n 2\n@@ -5,2 +6,1 @@\n-5\n 6\n", "1\n1b\n2\n3\n4\n6\n", ""},
		"the second is off":    {"1\n2\n3\n", "@@ -1 +1 @@\n-1\n+I\n@@ -3 +3 @@\n-9\n+IX\n", "", "hunk 2 of 2 (nothing was changed)"},
		"twice":                {"a\nb\na\nb\n", "@@ @@\n a\n-b\n", "", "more than once (lines 1 and 3)"},
		"the number decides":   {"a\nb\na\nb\n", "@@ -3,2 +3,1 @@\n a\n-b\n", "a\nb\na\n", ""},
		"an empty line":        {"a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n", ""},
		"CRLF":                 {"a\r\nb\r\n", "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n", "a\r\nc\r\nd\r\n", ""},
		"no newline stays":     {"a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", "A\nb", ""},
		"newline added":        {"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n", ""},
		"newline taken":        {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb", ""},
		"appended":             {"a\n", "@@ -1,0 +2,1 @@\n+b\n", "a\nb\n", ""},
		"a line of dashes":     {"a\n-- x\nb\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n--- x\n+++ y\n b\n", "a\n++ y\nb\n", ""},
		"does not fit":         {"a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-B\n+x\n c\n", "", `after line 1 the diff has "B", the file has "b"`},
		"nothing like it":      {"hello world\n", "@@ -1 +1 @@\n-hello word\n+x\n", "", `most like it is line 1: "hello world"`},
		"two files":            {"a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "", "more than one file"},
		"deletes":              {"a\n", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "", "deletes a file"},
		"no hunk":              {"a\n", "just words\n", "", "no hunk"},
		"nothing changes":      {"a\n", "@@ -1 +1 @@\n a\n", "", "changes nothing"},
		"a line without space": {"a\n", "@@ -1 +1 @@\na\n", "", "does not begin with"},
		"empties the file":     {"a\n", "@@ -1 +0,0 @@\n-a\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.put("f", c.before)
			s.do("read", in{"path": "f"})
			if c.fails != "" {
				s.fails("patch", in{"path": "f", "diff": c.diff}, c.fails)
				s.has("f", c.before)
				return
			}
			s.do("patch", in{"path": "f", "diff": c.diff})
			s.has("f", c.after)
		})
	}
}

func TestPatchFindsItsFileInTheHeader(t *testing.T) {
	t.Parallel()
	s := open(t)
	contains(t, s.do("patch", in{"diff": "--- /dev/null\n+++ b/dir/new\n@@ -0,0 +1,2 @@\n+a\n+b\n"}), "created dir/new")
	s.has("dir/new", "a\nb\n")
	s.do("patch", in{"diff": "--- a/dir/new\n+++ b/dir/new\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"})
	s.has("dir/new", "a\nc\n")
	s.fails("patch", in{"diff": "@@ -1 +1 @@\n-a\n+b\n"}, "names no file")
	s.fails("patch", in{"diff": "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"}, "outside the workspace")
	s.put("unread", "a\n")
	s.fails("patch", in{"diff": "--- a/unread\n+++ b/unread\n@@ -1 +1 @@\n-a\n+b\n"}, "was not read")
}

// TestPatchAgreesWithDiff applies what diff writes and must get what diff read.
func TestPatchAgreesWithDiff(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("diff"); err != nil {
		t.Skip("diff is not installed")
	}
	s := open(t)
	texts := []string{"", "a", "a\n", "a\nb\n", "a\nb", "b\na\n", "\n", "\n\n", "a\n\nb\n", strings.Repeat("x\n", 20) + "y\n", "z\n" + strings.Repeat("x\n", 20), strings.Repeat("x\n", 10) + "m\n" + strings.Repeat("x\n", 10) + "end"}
	for i, from := range texts {
		for j, to := range texts {
			if i == j {
				continue
			}
			must(t, os.WriteFile(filepath.Join(s.env.Directory, "to"), []byte(to), 0o644))
			s.put("from", from)
			out, _ := exec.Command("diff", "-u", filepath.Join(s.env.Directory, "from"), filepath.Join(s.env.Directory, "to")).Output()
			s.do("read", in{"path": "from"})
			if r, err := s.try("patch", in{"path": "from", "diff": string(out)}); err != nil {
				t.Fatalf("%q to %q: %v %s\n%s", from, to, err, r.Text, out)
			}
			s.has("from", to)
		}
	}
}
