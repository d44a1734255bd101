package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"harness"
	"harness/sandbox/bwrap"
	"harness/sandbox/landlock"
	"harness/sandbox/local"
)

// TestSandboxesOfOneProcessDoNotMeet opens, uses and closes workspaces of
// sandboxes of every kind at once, each sandbox new: none of them may find
// itself in what another has made, and nothing is left.
func TestSandboxesOfOneProcessDoNotMeet(t *testing.T) {
	rounds := 30
	if os.Getenv("LONG") != "" {
		rounds = 200
	}
	kinds := []func() harness.Sandbox{
		func() harness.Sandbox { return local.New(nil) },
		func() harness.Sandbox { return landlock.New(nil) },
		func() harness.Sandbox { return bwrap.New(nil) },
		func() harness.Sandbox { return local.New(nil) },
	}
	for i, kind := range kinds {
		if _, err := kind().Probe(t.Context()); err != nil {
			t.Logf("without one: %v", err)
			kinds[i] = kinds[0]
		}
	}
	var all sync.WaitGroup
	for i := range 8 {
		dir := t.TempDir()
		all.Go(func() {
			for n := range rounds {
				if err := use(t, kinds[(i+n)%len(kinds)](), dir); err != nil {
					t.Errorf("round %d of %d: %v", n, i, err)
					return
				}
			}
		})
	}
	all.Wait()
	for _, left := range groups(t) {
		t.Errorf("left behind: %s", left)
	}
}

// use runs a process in a workspace of its own.
func use(t *testing.T, s harness.Sandbox, dir string) error {
	w, err := s.Open(t.Context(), harness.WorkspaceSpec{Directory: dir, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		return err
	}
	c, err := w.Start(t.Context(), harness.Process{Args: []string{"/bin/true"}})
	if err != nil {
		return errors.Join(err, w.Close())
	}
	exit, err := c.Wait()
	if err == nil && exit != (harness.Exit{}) {
		err = fmt.Errorf("it ended with %+v", exit)
	}
	return errors.Join(err, w.Close())
}

// groups lists the control groups that this process has made and that exist.
func groups(t *testing.T) (found []string) {
	t.Helper()
	mine := fmt.Sprintf("harness-%d-", os.Getpid())
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), mine) {
			found = append(found, path)
		}
		return nil
	})
	return found
}
