package workspace_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"harness"
	"harness/workspace"
)

func TestSessionsOfADirectoryShareItsFiles(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	trees := workspace.NewTrees(data, &workspace.Options{Home: filepath.Dir(dir)})
	a, err := trees.Of(dir)
	must(t, err)
	b, err := trees.Of(link)
	must(t, err)
	if a != b {
		t.Error("two ways to a directory lead to two")
	}
	if entries, err := os.ReadDir(data); err != nil || len(entries) > 0 {
		t.Errorf("a look leaves %v, %v", entries, err)
	}
	for _, bad := range []string{"/", filepath.Dir(dir), filepath.Join(dir, "none")} {
		if f, err := trees.Of(bad); f != nil || !errors.Is(err, harness.ErrUnsupported) {
			t.Errorf("%s: %v, %v", bad, f, err)
		}
	}
}

// Tidying frees what nobody needs, but not in a tree with a turn at work, and
// steps aside for whoever comes.
func TestTidyingIsInNobodysWay(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	trees := workspace.NewTrees(data, nil)
	f, err := trees.Of(dir)
	must(t, err)
	noise := make([]byte, 1<<20)
	rand.Read(noise)
	put(t, dir, "noise", string(noise))
	mark := func(id harness.SessionID, phase harness.MarkPhase) harness.Mark {
		t.Helper()
		m, err := f.Mark(t.Context(), id, phase)
		must(t, err)
		return m
	}
	mark("ses_gone", workspace.Before)
	remove(t, dir, "noise")
	mark("ses_gone", workspace.After)
	kept := mark("ses_1", workspace.Before)
	must(t, f.Forget("ses_gone"))
	freed := int64(0)
	tidy := func(ctx context.Context) {
		trees.Tidy(ctx, func(at string, c workspace.Collected, err error) {
			must(t, err)
			freed += c.Freed
		})
	}
	if tidy(t.Context()); freed != 0 {
		t.Errorf("%d bytes were freed while a turn was at work", freed)
	}
	mark("ses_1", workspace.After)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if tidy(ended); freed != 0 {
		t.Errorf("%d bytes were freed by who was told to stop", freed)
	}
	if tidy(t.Context()); freed < 1<<20 {
		t.Errorf("%d bytes were freed", freed)
	}
	done := make(chan struct{})
	busy, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		for busy.Err() == nil {
			tidy(busy)
		}
	}()
	for range 20 {
		mark("ses_1", workspace.Before)
		put(t, dir, "file", "x")
		mark("ses_1", workspace.After)
	}
	cancel()
	<-done
	_, err = f.Rewind(t.Context(), harness.Rewinding{Session: "ses_1", Mark: kept.ID})
	must(t, err)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("rewound to %v, %v", entries, err)
	}
}

// What a session and its ancestors did up to the branch is its own.
func TestABeginningInAnotherSessionIsTheSessionsOwn(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	f := workspace.NewFiles(tree)
	turn := func(id harness.SessionID, name string) (before, after harness.Mark) {
		t.Helper()
		before, err := f.Mark(t.Context(), id, workspace.Before)
		must(t, err)
		put(t, dir, name, "x\n")
		after, err = f.Mark(t.Context(), id, workspace.After)
		must(t, err)
		return before, after
	}
	first, branched := turn("ses_parent", "shared")
	turn("ses_parent", "later")
	turn("ses_branch", "own")
	to := harness.Rewinding{Session: "ses_branch", Mark: first.ID, DryRun: true}
	for _, c := range []struct {
		lineage map[harness.SessionID]string
		want    string
	}{{nil, "[own] [later shared]"}, {map[harness.SessionID]string{"ses_parent": branched.ID}, "[own shared] [later]"}} {
		to.Lineage = c.lineage
		w, err := f.Rewind(t.Context(), to)
		must(t, err)
		if got := fmt.Sprint(w.FilesChanged, w.Conflicts); got != c.want {
			t.Errorf("lineage %v: %s, want %s", c.lineage, got, c.want)
		}
	}
}
