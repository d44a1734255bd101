//go:build linux

package sandboxtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"harness"
)

// treeSize is the number of processes of probe tree that say when they are up.
const treeSize = 6

// nonce is a word that no other command line has.
func nonce() string { return "mark-" + rand.Text() }

// survivors counts the processes with the word in their command line. It sees
// those in namespaces, too.
func survivors(mark string) int { return len(marked(mark)) }

func marked(mark string) (pids []int) {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range found {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte(mark)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// grow starts the tree and returns when all of it is up.
func (b *bench) grow(t *testing.T, ctx context.Context, w harness.Workspace, mark string) harness.Child {
	t.Helper()
	up := &lines{want: treeSize, all: make(chan struct{})}
	c, err := w.Start(ctx, harness.Process{Args: []string{b.probe, "tree", mark}, Stdout: up})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-up.all:
	case <-time.After(patience):
		t.Fatalf("only these are up:\n%s", up.text())
	}
	return c
}

// lines counts lines and says when there are enough.
type lines struct {
	want int
	all  chan struct{}

	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := bytes.Count(l.buf.Bytes(), []byte("\n"))
	l.buf.Write(p)
	if now := bytes.Count(l.buf.Bytes(), []byte("\n")); before < l.want && now >= l.want {
		close(l.all)
	}
	return len(p), nil
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (b *bench) killTree(t *testing.T) {
	gone := func(t *testing.T, mark string) {
		t.Helper()
		if n := survivors(mark); n != 0 {
			t.Errorf("%d processes are left when Wait has returned", n)
		}
	}
	t.Run("ByCancel", func(t *testing.T) {
		w, _ := b.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		mark := nonce()
		c := b.grow(t, ctx, w, mark)
		cancel()
		exit, err := c.Wait()
		if gone(t, mark); err != nil || exit != (harness.Exit{Code: 137, Cause: harness.ExitCancelled}) {
			t.Errorf("wait: %+v, %v", exit, err)
		}
	})
	t.Run("ByCancelWithGrace", func(t *testing.T) {
		w, _ := b.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		mark := nonce()
		c, err := w.Start(ctx, harness.Process{Args: []string{b.probe, "hold", mark, "deaf"}, Stdout: writer(func([]byte) { cancel() }), Grace: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		exit, err := c.Wait()
		if gone(t, mark); err != nil || exit.Code != 137 {
			t.Errorf("a deaf process: %+v, %v", exit, err)
		}
	})
	t.Run("ByClose", func(t *testing.T) {
		w, _ := b.open(t)
		mark := nonce()
		c := b.grow(t, t.Context(), w, mark)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		gone(t, mark)
		if exit, err := c.Wait(); err != nil || exit.Cause != harness.ExitCancelled {
			t.Errorf("wait: %+v, %v", exit, err)
		}
	})
	t.Run("ByTheEndOfTheCommand", func(t *testing.T) {
		w, _ := b.open(t)
		mark := nonce()
		// The daemon keeps stdout open: that must not hold Wait up either.
		got := run(t, w, b.probe, "daemon", mark)
		if gone(t, mark); got.Exit != (harness.Exit{}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("ByKillOfTheCommand", func(t *testing.T) {
		w, _ := b.open(t)
		mark := nonce()
		c := b.grow(t, t.Context(), w, mark)
		killCommand(b.probe, mark)
		exit, err := c.Wait()
		if gone(t, mark); err != nil || exit.Code != 137 {
			t.Errorf("wait: %+v, %v", exit, err)
		}
	})
	t.Run("OthersLive", func(t *testing.T) {
		w, _ := b.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		mine, other := nonce(), nonce()
		first, second := b.grow(t, ctx, w, mine), b.grow(t, t.Context(), w, other)
		before := survivors(other)
		cancel()
		_, _ = first.Wait()
		gone(t, mine)
		if now := survivors(other); now != before {
			t.Errorf("%d of %d processes of the other tree are left", now, before)
		}
		_ = w.Close()
		_, _ = second.Wait()
		gone(t, other)
	})
	t.Run("ByKillOfTheHelper", func(t *testing.T) {
		if b.holds.Kind != "none" || !b.enforces(harness.LimitPids) {
			t.Skip("only where it can be reached, and a control group holds the rest")
		}
		w, _ := b.open(t)
		mark := nonce()
		got := sh(t, w, "setsid "+b.probe+" hold "+mark+" deaf & kill -KILL $PPID; wait")
		if gone(t, mark); got.Code != 137 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("ByKillOfTheHarness", b.killHarness)
	t.Run("ByKillOfTheHarnessWhileItStartsProcesses", b.killBusyHarness)
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// killCommand kills, from outside, the topmost process of a tree, and nothing
// that belongs to the sandbox.
func killCommand(probe, mark string) {
	want := strings.Join([]string{probe, "tree", mark, ""}, "\x00")
	for _, pid := range marked(mark) {
		if read("/proc/"+strconv.Itoa(pid)+"/cmdline") == want {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// randomKills ends many runs at random places of their life and looks for what
// they left.
func (b *bench) randomKills(t *testing.T) {
	rounds := b.rounds
	if os.Getenv("LONG") != "" {
		rounds *= 100
	}
	t.TempDir()                              // what the test itself makes is not there
	temp, err := os.MkdirTemp("/tmp", "hk-") // short, or it is not used
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	seed := uint64(time.Now().UnixNano())
	t.Logf("%d rounds from seed %d", rounds, seed)
	dice := mathrand.New(mathrand.NewPCG(seed, 0))
	mark := nonce()
	w, dir := b.open(t)
	before := traces(t, os.Getpid(), dir, temp)
	for range rounds {
		ws := w
		if dice.IntN(4) == 0 {
			ws, _ = b.openIn(t, dir)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(dice.IntN(40_000))*time.Microsecond)
		p := harness.Process{Args: []string{b.probe, "tree", mark}, Stdout: io.Discard}
		if dice.IntN(3) == 0 {
			p.Args = []string{b.probe, "daemon", mark}
		}
		if dice.IntN(4) == 0 {
			p.Grace = 5 * time.Millisecond
		}
		c, err := ws.Start(ctx, p)
		switch what := dice.IntN(6); {
		case err != nil || ws != w:
		case what < 2:
			killCommand(b.probe, mark)
		case what == 2 && b.holdsWithoutHelper():
			_ = syscall.Kill(c.Ref().PID, syscall.SIGKILL)
		}
		if ws != w {
			if err := ws.Close(); err != nil {
				t.Fatalf("close: %v", err)
			}
		}
		if err == nil {
			if _, err := c.Wait(); err != nil {
				t.Fatalf("wait: %v", err)
			}
		}
		cancel()
		if n := survivors(mark); n != 0 {
			t.Fatalf("%d processes are left", n)
		}
	}
	left := slices.DeleteFunc(traces(t, os.Getpid(), dir, temp), func(x string) bool { return slices.Contains(before, x) })
	if len(left) > 0 {
		t.Errorf("left behind:\n%s", strings.Join(left, "\n"))
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	self := "harness-" + strconv.Itoa(os.Getpid()) + "-"
	for _, left := range traces(t, os.Getpid()) {
		if strings.Contains(left, self) {
			t.Errorf("left behind after Close: %s", left)
		}
	}
	if got, _ := os.ReadDir(temp); len(got) != 0 {
		t.Errorf("temporary files are left: %v", got)
	}
}

// holdsWithoutHelper reports whether a tree ends, too, if what watches over it
// is killed from outside.
func (b *bench) holdsWithoutHelper() bool {
	return b.holds.Kind == "namespaces" || b.holds.Kind != "container" && b.enforces(harness.LimitPids)
}

// openIn opens a second workspace of a directory. The test closes it.
func (b *bench) openIn(t testing.TB, dir string) (harness.Workspace, string) {
	t.Helper()
	w, err := b.sandbox.Open(t.Context(), harness.WorkspaceSpec{Session: "ses_test", Directory: dir, ReadOnly: []string{b.probe}, Env: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	return w, dir
}

// traces lists what a sandbox could leave: mounts and sockets that have to do
// with the places, control groups of a process, open files, temporary files.
func traces(t testing.TB, pid int, places ...string) (all []string) {
	t.Helper()
	if engine := os.Getenv("HARNESS_TEST_ENGINE"); engine != "" {
		places = append(places, engine)
	}
	for what, table := range map[string]string{"mount ": "/proc/self/mountinfo", "socket ": "/proc/net/unix"} {
		for l := range strings.Lines(read(table)) {
			if slices.ContainsFunc(places, func(p string) bool { return strings.Contains(l, p) }) {
				all = append(all, what+strings.TrimSpace(l))
			}
		}
	}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(path, "harness-"+strconv.Itoa(pid)+"-") {
			all = append(all, "cgroup "+path)
		}
		return nil
	})
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil {
			all = append(all, "open file "+to)
		}
	}
	temp, _ := os.ReadDir(os.TempDir())
	for _, f := range temp {
		all = append(all, "temporary file "+f.Name())
	}
	return all
}
