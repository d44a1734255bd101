package workspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"harness"
)

// A patch takes what was to what is, as patch(1) or git apply it.
func TestAPatchMakesTheNewOfTheOld(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []byte {
		var b bytes.Buffer
		for range random.IntN(40) {
			fmt.Fprintf(&b, "line %d\n", random.IntN(6))
		}
		if random.IntN(3) == 0 && b.Len() > 0 {
			b.Truncate(b.Len() - 1)
		}
		return b.Bytes()
	}
	dir := t.TempDir()
	var all bytes.Buffer
	want := map[string][]byte{}
	for i := range 60 {
		a, b := text(), text()
		if len(a) == 0 || len(b) == 0 || bytes.Equal(a, b) {
			continue
		}
		name := fmt.Sprintf("f%d", i)
		want[name] = b
		if err := os.WriteFile(filepath.Join(dir, name), a, 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "--- a/%s\n+++ b/%s\n%s", name, name, unified(a, b))
	}
	cmd := exec.Command("git", "apply", "-")
	cmd.Dir, cmd.Stdin = dir, &all
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, b := range want {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s is %q, want %q, %v", name, got, b, err)
		}
	}
}

func TestADiffSinceAMark(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("same", "1\n")
	put("changed", "1\n2\n3\n")
	put("gone", "1\n")
	tree, err := Open(t.TempDir(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := NewFiles(tree)
	m, err := f.Mark(t.Context(), "ses_1", harness.MarkBefore)
	if err != nil {
		t.Fatal(err)
	}
	put("changed", "1\ntwo\n3\n")
	put("new", "n\n")
	put("bytes", "\x00\x01")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	got, err := f.Diff(t.Context(), "ses_1", m.ID)
	want := "diff --git a/bytes b/bytes\nBinary files /dev/null and b/bytes differ\n" +
		"diff --git a/changed b/changed\n--- a/changed\n+++ b/changed\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n" +
		"diff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n" +
		"diff --git a/new b/new\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if _, err := f.Diff(t.Context(), "ses_1", "mrk_1"); err == nil {
		t.Error("of a mark that is not there")
	}
}
