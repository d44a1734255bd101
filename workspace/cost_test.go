//go:build unix

package workspace_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"harness/workspace"
)

// source is a tree of n text files of about 4 kB, 25 to a directory.
func source(t testing.TB, dir string, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("func return if err nil string int the a of and value := range context package import type struct error close open")
	for i := range n {
		var b bytes.Buffer
		for b.Len() < 4000 {
			fmt.Fprintf(&b, "%s %s(%d, %q)\n", words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(1000), words[r.IntN(len(words))])
		}
		put(t, dir, fmt.Sprintf("d%02d/e%02d/file%05d.go", i/25%20, i/25/20, i), b.String())
	}
}

// edit changes n of the files and makes a new one.
func edit(t testing.TB, dir string, n, total, round int) {
	t.Helper()
	for k := range n {
		i := k * (total / n)
		path := filepath.Join(dir, fmt.Sprintf("d%02d/e%02d/file%05d.go", i/25%20, i/25/20, i))
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, append([]byte(fmt.Sprintf("// edit %d\n", round)), b...), 0o644))
	}
	put(t, dir, fmt.Sprintf("d00/new%d.go", round), "package new\n")
}

// cpu is the processor time of this process and of the children it waited for.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		must(t, syscall.Getrusage(who, &u))
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// rival is what is measured: ours, or git with a repository of its own beside
// the tree, as others use it.
type rival struct {
	take   func() string
	rewind func(mark string)
}

func oursAt(t testing.TB, dir string) rival {
	tree := openAt(t, t.TempDir(), dir, nil)
	return rival{
		take: func() string { return take(t, tree, workspace.Before).ID },
		rewind: func(mark string) {
			_, err := tree.Rewind(t.Context(), session, mark, false)
			must(t, err)
		},
	}
}

func gitAt(t testing.TB, dir string) rival {
	git := filepath.Join(t.TempDir(), "git")
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "gc.auto=0", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_DIR="+git, "GIT_WORK_TREE="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	return rival{
		take: func() string {
			run("add", "-A")
			return run("write-tree")
		},
		rewind: func(mark string) { run("read-tree", "-u", "--reset", mark) },
	}
}

// TestSnapshotsCostNoMoreProcessorTimeThanGit measures both by turns on equal
// trees. Ours are durable and its rewind keeps the state it finds and counts
// lines; git does neither.
func TestSnapshotsCostNoMoreProcessorTimeThanGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 compares 10,000 files")
	}
	const files, rounds = 10_000, 7
	steps := []string{"first", "unchanged", "changed", "restore"}
	cost, wall := map[string][]time.Duration{}, map[string][]time.Duration{}
	for range rounds {
		for _, name := range []string{"git", "ours"} {
			dir := t.TempDir()
			source(t, dir, files)
			var r rival
			if name == "git" {
				r = gitAt(t, dir)
			} else {
				r = oursAt(t, dir)
			}
			waitTick(t, dir)
			measure := func(step string, do func()) {
				began, before := time.Now(), cpu(t)
				do()
				key := name + " " + step
				cost[key], wall[key] = append(cost[key], cpu(t)-before), append(wall[key], time.Since(began))
			}
			var first string
			measure("first", func() { first = r.take() })
			waitTick(t, dir)
			r.take()
			measure("unchanged", func() { r.take() })
			edit(t, dir, 100, files, 1)
			waitTick(t, dir)
			measure("changed", func() { r.take() })
			measure("restore", func() { r.rewind(first) })
			if _, err := os.Stat(filepath.Join(dir, "d00/new1.go")); err == nil {
				t.Fatalf("%s: restore left the new file", name)
			}
		}
	}
	for _, step := range steps {
		g, o := slices.Min(cost["git "+step]), slices.Min(cost["ours "+step])
		ratio := float64(o) / float64(g)
		t.Logf("%-10s git %v CPU %v wall, ours %v CPU %v wall, CPU ratio %.2f", step, g.Round(time.Millisecond/10), slices.Min(wall["git "+step]).Round(time.Millisecond/10),
			o.Round(time.Millisecond/10), slices.Min(wall["ours "+step]).Round(time.Millisecond/10), ratio)
		if ratio > 1 && step != "unchanged" && !race { // looking at 10,000 names costs both the same
			t.Errorf("%s costs %.2f times what git costs", step, ratio)
		}
	}
}

// waitTick returns when a file made now is distinguishable from all made before.
func waitTick(t testing.TB, dir string) {
	t.Helper()
	time.Sleep(60 * time.Millisecond) // sleep: the file system's clock is what is waited for
}
