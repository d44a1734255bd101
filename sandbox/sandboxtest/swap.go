//go:build linux

package sandboxtest

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
)

// swapped has a process inside exchange names for links that lead out, as fast
// as it can, while the same names are used from outside: between the look and
// the deed there must be no time in which a link counts.
func (b *bench) swapped(t *testing.T) {
	lasts := 100 * time.Millisecond
	if os.Getenv("LONG") != "" {
		lasts = time.Minute
	}
	w, dir := b.open(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "text"), canary)
	for _, name := range []string{"d/text", "f", ".git/hooks/sample"} {
		write(t, filepath.Join(dir, name), "mine")
	}
	for link, to := range map[string]string{"dl": outside, "fl": filepath.Join(outside, "text"), "hl": ".git/hooks"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "h/x"), "")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	up := &lines{want: 1, all: make(chan struct{})}
	c, err := w.Start(ctx, harness.Process{Args: []string{b.probe, "swap", "d", "dl", "f", "fl", "h", "hl"}, Stdout: up})
	if err != nil {
		t.Fatal(err)
	}
	<-up.all
	inside, refused := 0, 0
	saw := func(how, text string, err error) {
		switch {
		case strings.Contains(text, canary):
			t.Fatalf("%s has read what is outside", how)
		case err != nil:
			refused++
		default:
			inside++
		}
	}
	end, last := time.Now().Add(lasts), time.Now().Add(patience+lasts)
	for time.Now().Before(end) || (inside == 0 || refused == 0) && time.Now().Before(last) {
		for _, name := range []string{"d/text", "f", "dl/text", "fl"} {
			text, err := fs.ReadFile(w, name)
			saw("ReadFile", string(text), err)
			text, err = slowly(w, name)
			saw("Open", string(text), err)
		}
		// What is written is the canary's negative: it must never be found outside.
		for _, name := range []string{"d/new", "f", "h/new", "h/pre-commit"} {
			saw("WriteFile", "", w.WriteFile(name, []byte("mine"), 0o644))
		}
	}
	cancel()
	if _, err := c.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("%d times inside, %d times refused", inside, refused)
	if inside == 0 || refused == 0 {
		t.Error("the names were never both")
	}
	if got, _ := os.ReadDir(outside); len(got) != 1 || read(filepath.Join(outside, "text")) != canary {
		t.Errorf("outside is %v, %q", got, read(filepath.Join(outside, "text")))
	}
	if got, _ := os.ReadDir(filepath.Join(dir, ".git/hooks")); len(got) != 1 {
		t.Errorf("hooks are %v", got)
	}
}

// slowly opens a file, looks at it, and then reads.
func slowly(w harness.Workspace, name string) ([]byte, error) {
	f, err := w.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Stat(); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
