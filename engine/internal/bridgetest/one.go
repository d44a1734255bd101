package bridgetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/internal/program"
)

// Only is a program in front of another: it becomes that one, in the role that
// HARNESS_TEST_THEN names, and whoever is it has the lock of its HOME. If it does
// not get that, two of a session live at a time, and it says so in dir.
func Only(dir string, args, env []string) int {
	home := variable(env, "HOME")
	fd, err := syscall.Open(filepath.Join(home, "only"), syscall.O_RDWR|syscall.O_CREAT, 0o600) // it stays open
	if err != nil {
		return 70
	}
	name := "started"
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		name = "twice"
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 70
	}
	fmt.Fprintln(f, filepath.Base(home))
	f.Close()
	_ = syscall.Exec(args[0], args, behind(env))
	return 70
}

// watch is a directory in which [Only] notes who was started.
type watch struct {
	*Stage
	dir string
}

// started are the sessions for which a program was started, each as often.
func (w *watch) started() []string {
	w.Helper()
	if b, err := os.ReadFile(filepath.Join(w.dir, "twice")); !os.IsNotExist(err) {
		w.Fatalf("two programs of a session lived at a time: %s %v", b, err)
	}
	b, err := os.ReadFile(filepath.Join(w.dir, "started"))
	if err != nil {
		w.Fatal(err)
	}
	return strings.Fields(string(b))
}

// OneProcess has a program that answers prompts, as [Bridge.Faults] has. However
// many want something of a session at once, it has one process.
func (b *Bridge) OneProcess(t *testing.T) {
	dir := t.TempDir()
	command := []string{Self(t), Self(t)}
	base := program.Options{Env: []string{"HARNESS_TEST_ROLE=only", "HARNESS_TEST_THEN=fault", "HARNESS_TEST_STORY=", "HARNESS_TEST_DIR=" + dir}}
	w := &watch{b.stage(t, t.TempDir(), command, base), dir}
	b.crowd(w, command, 4, 5)
	if got := w.started(); len(got) != 4 { // two more engines had one each of the first session
		t.Errorf("programs were started for %v", got)
	}
}

// OneRealProcess is the same with the real program.
func (b *Bridge) OneRealProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := b.real(t, program.Options{Env: []string{"HARNESS_TEST_ROLE=only", "HARNESS_TEST_DIR=" + dir}}, "say Hello.", []string{Self(t)})
	b.crowd(&watch{s, dir}, s.command, 2, 2)
}

// crowd has clients speak to a session and to a branch of it, all at once, each
// so often; then another engine on the same files is asked, as a second server
// would, while the first has its process, and when it has none.
func (b *Bridge) crowd(w *watch, command []string, clients, words int) {
	w.Helper()
	w.Ask("right")
	branch := w.Create(harness.NewSession{ID: "ses_2", Directory: w.Dir, From: &harness.Branch{Session: "ses_1", Seq: w.State().Seq}})
	var all sync.WaitGroup
	for range clients {
		for _, id := range []harness.SessionID{"ses_1", branch} {
			all.Go(func() {
				for range words {
					if _, err := w.Kernel.Do(w.Context(), id, harness.Submit{Parts: harness.TextPart("right"), Source: harness.FromTurn, OnBusy: harness.Enqueue}); err != nil {
						w.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	for id, turns := range map[harness.SessionID]int{"ses_1": clients*words + 1, branch: clients * words} {
		w.ID = id
		w.Ended(turns)
		if log := Tell(w.Events()); strings.Count(log, "turn_end completed") != turns {
			w.Errorf("not every turn of %s was completed:\n%s", id, log)
		}
	}
	before := len(w.started())

	other := b.Open(command, w.opts)
	w.Cleanup(func() { _ = other.Close() })
	release := func() { other.(interface{ Release(harness.SessionID) }).Release("ses_1") }
	run := func(meanwhile func()) error {
		h := enginetest.NewHost("ses_1")
		turn := h.Begin("right")
		turn.Directory = w.Dir
		return other.Run(w.Context(), turn, busy{h, meanwhile})
	}
	if err := run(nil); !errors.Is(err, harness.ErrRetry) || !strings.Contains(err.Error(), "the session has a program already") {
		w.Errorf("another engine ran a turn: %v", err)
	}
	if after := len(w.started()); after != before {
		w.Errorf("another engine started a program: %d, then %d", before, after)
	}
	if err := w.Engine.Close(); err != nil {
		w.Error(err)
	}
	if err := run(nil); err != nil {
		w.Errorf("when the first has none, another engine runs no turn: %v", err)
	}
	if len(w.Processes()) == 0 {
		w.Error("the other engine keeps no process")
	}
	release()
	w.None()
	if err := run(release); err != nil { // in the middle of a turn, which ends as it would
		w.Error(err)
	}
	w.None()
	w.started()
}

// busy is a session in which something is done whenever the engine says something.
type busy struct {
	harness.Host
	meanwhile func() // nil for nothing
}

func (b busy) Emit(ctx context.Context, p harness.Payload) error {
	if b.meanwhile != nil {
		b.meanwhile()
	}
	return b.Host.Emit(ctx, p)
}
