//go:build linux

package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
)

func (b *bench) streams(t *testing.T) {
	t.Run("CarryEveryByteBothWays", func(t *testing.T) {
		w, _ := b.open(t)
		in := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
		var out bytes.Buffer
		got := runProcess(t, w, harness.Process{Args: []string{b.probe, "copy"}, Stdin: bytes.NewReader(in), Stdout: &out})
		if got.Code != 0 || !bytes.Equal(out.Bytes(), in) {
			t.Errorf("code %d, %d bytes of %d, %s", got.Code, out.Len(), len(in), got.err)
		}
	})
	t.Run("AreApart", func(t *testing.T) {
		w, _ := b.open(t)
		if got := sh(t, w, "echo one; echo two >&2; read x || echo none"); got.out != "one\nnone\n" || got.err != "two\n" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("AreLive", func(t *testing.T) {
		w, _ := b.open(t)
		in, answer := io.Pipe()
		line, out := io.Pipe()
		c, err := w.Start(t.Context(), harness.Process{Args: []string{"/bin/sh", "-c", "echo ready; read x; echo got $x"}, Stdin: in, Stdout: out})
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64)
		n, _ := line.Read(buf)
		if string(buf[:n]) != "ready\n" {
			t.Fatalf("first line %q", buf[:n])
		}
		if _, err := io.WriteString(answer, "it\n"); err != nil {
			t.Fatal(err)
		}
		n, _ = line.Read(buf)
		if string(buf[:n]) != "got it\n" {
			t.Errorf("second line %q", buf[:n])
		}
		// The other side of stdin stays open: that must not hold Wait up.
		if exit, err := c.Wait(); err != nil || exit.Code != 0 {
			t.Errorf("wait: %+v, %v", exit, err)
		}
		answer.Close()
	})
	t.Run("TakeMuch", func(t *testing.T) {
		w, _ := b.open(t)
		var n counter
		got := runProcess(t, w, harness.Process{Args: []string{b.probe, "write", "33554432"}, Stdout: &n})
		if got.Code != 0 || n != 32<<20 {
			t.Errorf("code %d, %d bytes", got.Code, n)
		}
	})
	t.Run("AWriterThatFailsDoesNotDisturbTheProcess", func(t *testing.T) {
		w, _ := b.open(t)
		if got := runProcess(t, w, harness.Process{Args: []string{b.probe, "write", "1000000"}, Stdout: broken{}}); got.Code != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func (b *bench) ends(t *testing.T) {
	t.Run("HaveCodes", func(t *testing.T) {
		w, _ := b.open(t)
		for script, want := range map[string]int{"exit 0": 0, "exit 3": 3, "exit 255": 255, "kill -TERM $$": 143, "kill -KILL $$": 137, "kill -SEGV $$": 139} {
			if got := sh(t, w, script); got.Code != want || got.Cause != "" {
				t.Errorf("%s: %+v, want code %d", script, got.Exit, want)
			}
		}
	})
	t.Run("AProgramThatIsNotThereIsSaid", func(t *testing.T) {
		w, _ := b.open(t)
		c, err := w.Start(t.Context(), harness.Process{Args: []string{"no-such-program"}})
		if err != nil {
			return
		}
		if exit, err := c.Wait(); err == nil && exit.Code != 127 {
			t.Errorf("code %d, want 127 or an error", exit.Code)
		}
	})
	t.Run("AContextThatIsDoneStartsNothing", func(t *testing.T) {
		t.Setenv("TMPDIR", t.TempDir()) // others write to the shared one meanwhile
		w, dir := b.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := traces(t, os.Getpid(), dir)
		if _, err := w.Start(ctx, harness.Process{Args: []string{"/bin/sh", "-c", "echo >ran"}, Stdout: io.Discard}); !errors.Is(err, context.Canceled) {
			t.Errorf("start: %v, want Canceled", err)
		}
		if after := traces(t, os.Getpid(), dir); len(after) > len(before) {
			t.Errorf("left behind: %q, before %q", after, before)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Error("it ran")
		}
	})
	t.Run("AClosedWorkspaceStartsNothing", func(t *testing.T) {
		w, _ := b.open(t)
		if err := errors.Join(w.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Start(t.Context(), harness.Process{Args: []string{"/bin/sh"}}); !errors.Is(err, os.ErrClosed) {
			t.Errorf("start: %v, want ErrClosed", err)
		}
	})
	t.Run("BeforeComesFirst", func(t *testing.T) {
		w, dir := b.open(t)
		var ref harness.ProcessRef
		refuse := errors.New("not today")
		_, err := w.Start(t.Context(), harness.Process{
			Args:   []string{"/bin/sh", "-c", "echo >ran"},
			Before: func(r harness.ProcessRef) error { ref = r; return refuse },
		})
		if !errors.Is(err, refuse) || ref.PID == 0 || ref.Started == 0 {
			t.Errorf("start: %v, ref %+v", err, ref)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Error("it ran")
		}
	})
	t.Run("GraceLetsAProcessEndItself", func(t *testing.T) {
		w, dir := b.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		line, out := io.Pipe()
		c, err := w.Start(ctx, harness.Process{Args: []string{b.probe, "polite", filepath.Join(dir, "said")}, Stdout: out, Grace: patience})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = line.Read(make([]byte, 8))
		cancel()
		exit, err := c.Wait()
		if want := (harness.Exit{Code: 5, Cause: harness.ExitCancelled}); err != nil || exit != want || read(filepath.Join(dir, "said")) != "polite" {
			t.Errorf("wait: %+v, %v, want %+v", exit, err, want)
		}
	})
}

func (b *bench) surroundings(t *testing.T) {
	t.Run("TheEnvironmentIsTheGivenOne", func(t *testing.T) {
		w, dir := b.open(t, func(s *harness.WorkspaceSpec) {
			s.Env = []string{path, "A=1", "B=two words", "C=über=\"x\"", "D="}
		})
		got := runProcess(t, w, harness.Process{Args: []string{b.probe, "env"}, Env: []string{"A=3", "E=line\nbreak"}})
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(got.out), "\n"), func(l string) bool {
			return l == "PWD="+dir || strings.HasPrefix(l, "TMPDIR=") // what a process needs to live there
		})
		if want := []string{"A=3", "B=two words", "C=über=\"x\"", "D=", "E=line", "break", path}; !slices.Equal(lines, want) {
			t.Errorf("the environment is %q, want %q; %s", lines, want, got.err)
		}
	})
	t.Run("ThreeFilesAreOpen", func(t *testing.T) {
		w, _ := b.open(t)
		got := strings.Fields(sh(t, w, `for f in /proc/self/fd/*; do [ -e "$f" ] && echo "${f##*/}"; done`).out)
		if slices.Sort(got); !slices.Equal(got, []string{"0", "1", "2"}) {
			t.Errorf("open are %q", got)
		}
	})
	t.Run("TheDirectoryIsTheWorkspaceAtItsOwnPath", func(t *testing.T) {
		w, dir := b.open(t)
		write(t, filepath.Join(dir, "sub/x"), "")
		if got := sh(t, w, "pwd"); got.out != dir+"\n" {
			t.Errorf("pwd is %q", got.out)
		}
		if got := runProcess(t, w, harness.Process{Args: []string{"/bin/sh", "-c", "pwd; ls"}, Dir: "sub"}); got.out != dir+"/sub\nx\n" {
			t.Errorf("in sub: %q", got.out)
		}
		for _, bad := range []string{"..", "/", "sub/x", "none"} {
			if c, err := w.Start(t.Context(), harness.Process{Args: []string{"true"}, Dir: bad}); err == nil {
				_, _ = c.Wait()
				t.Errorf("started in %q", bad)
			}
		}
	})
	t.Run("ThereIsAPlaceForTemporaryFiles", func(t *testing.T) {
		w, _ := b.open(t)
		if got := sh(t, w, "f=${TMPDIR:-/tmp}/x.$$ && echo a >$f && cat $f && rm $f"); got.out != "a\n" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("WhatTheSpecOpensIsOpen", func(t *testing.T) {
		a := &target{t: t, knocked: make(chan struct{}, 1), probe: b.probe, home: shortDir(t)}
		a.listen(t)
		w, _ := b.open(t, func(s *harness.WorkspaceSpec) { s.Sockets = []string{byPath(a)} })
		if got := run(t, w, b.probe, "attack", "dial", "unix", byPath(a)); !received(a, got) {
			t.Errorf("a socket of the spec: %+v", got)
		}
		a.received.Store(0)
		w, _ = b.open(t, func(s *harness.WorkspaceSpec) { s.Network = true })
		if got := run(t, w, b.probe, "attack", "dial", "tcp", tcp(a)); !received(a, got) {
			t.Errorf("the network: %+v", got)
		}
		if slices.Contains(w.Isolation().Enforces, harness.GuardNetwork) {
			t.Error("a workspace with a network says that it has none")
		}
	})
	t.Run("ProgramsRunAsNobodySpecial", func(t *testing.T) {
		if b.holds.Kind == "none" {
			t.Skip("this sandbox isolates nothing")
		}
		w, _ := b.open(t)
		if got := sh(t, w, "grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status").out; got != "CapEff:\t0000000000000000\nNoNewPrivs:\t1\n" {
			t.Errorf("got %q", got)
		}
	})
}
