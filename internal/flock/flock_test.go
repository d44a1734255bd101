//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package flock_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"harness/internal/flock"
)

// TestMain is also the process that holds a lock until it is killed.
func TestMain(m *testing.M) {
	path := os.Getenv("HARNESS_TEST_HOLD")
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := flock.Take(path); err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("held\n")
	select {}
}

func mustTake(t *testing.T, path string) *flock.Lock {
	t.Helper()
	l, err := flock.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustBeHeldBy(t *testing.T, path string, pid int) {
	t.Helper()
	_, err := flock.Take(path)
	if held, ok := errors.AsType[*flock.HeldError](err); !ok || *held != (flock.HeldError{Path: path, PID: pid}) {
		t.Fatalf("a second claim: %v, want one held by process %d", err, pid)
	}
}

func TestASecondClaimIsToldWhoHoldsTheFirst(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	l := mustTake(t, path)
	mustBeHeldBy(t, path, os.Getpid())
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if err := mustTake(t, path).Release(); err != nil {
		t.Fatal(err)
	}
}

func TestAClaimEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	holder := exec.CommandContext(t.Context(), os.Args[0])
	holder.Env = append(os.Environ(), "HARNESS_TEST_HOLD="+path)
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the holder said %q, %v", line, err)
	}
	mustBeHeldBy(t, path, holder.Process.Pid)
	holder.Process.Kill()
	holder.Wait()
	if err := mustTake(t, path).Release(); err != nil {
		t.Fatal(err)
	}
}

// TestAHolderThatSaysNothingIsAnotherProcess: the lock counts, not what is
// written in the file.
func TestAHolderThatSaysNothingIsAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	defer mustTake(t, path).Release()
	if err := os.WriteFile(path, []byte("nobody knows"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustBeHeldBy(t, path, 0)
}

func TestWhatOnlyLooksLikeALockIsTaken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte("4194304000 left by a crash\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer mustTake(t, path).Release()
	mustBeHeldBy(t, path, os.Getpid())
}

func TestAClaimInNoDirectoryNamesThePath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "lock")
	_, err := flock.Take(path)
	if at, ok := errors.AsType[*fs.PathError](err); !ok || at.Path != path || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
}
