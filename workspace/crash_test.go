//go:build unix

package workspace_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"harness/workspace"
	"harness/workspace/object"
)

// child runs this test binary again, as the test with the given name, which
// finds data and dir in its environment.
func child(t *testing.T, name, data, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+name+"$")
	cmd.Env = append(os.Environ(), "HARNESS_TEST_DATA="+data, "HARNESS_TEST_DIR="+dir, "HARNESS_TEST_ARGS="+strings.Join(args, " "))
	return cmd
}

// inChild returns what child handed over; it skips the test in the parent.
func inChild(t *testing.T) (data, dir string, args []string) {
	t.Helper()
	if data = os.Getenv("HARNESS_TEST_DATA"); data == "" {
		t.Skip("runs as a child of another test")
	}
	return data, os.Getenv("HARNESS_TEST_DIR"), strings.Fields(os.Getenv("HARNESS_TEST_ARGS"))
}

// killWhen starts cmd and kills it as soon as a file matches the pattern.
func killWhen(t *testing.T, cmd *exec.Cmd, pattern string) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(time.Minute)
	for {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			must(t, cmd.Process.Kill())
			<-ended
			return
		}
		select {
		case err := <-ended:
			t.Fatalf("the child ended by itself: %v\n%s", err, out.String())
		case <-deadline:
			cmd.Process.Kill()
			t.Fatalf("nothing matched %s", pattern)
		case <-time.After(50 * time.Microsecond):
		}
	}
}

func kills() int {
	if os.Getenv("LONG") != "" {
		return 200
	}
	return 2
}

// TestKilledInTheMiddleOfARewind: whenever it is, the next use of the tree
// finishes it, and the tree is wholly as at one of the marks.
func TestKilledInTheMiddleOfARewind(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	tree := openAt(t, data, dir, nil)
	for i := range 300 {
		put(t, dir, "d"+strconv.Itoa(i%10)+"/f"+strconv.Itoa(i), "old "+strconv.Itoa(i), "swap/"+strconv.Itoa(i)+"/x", "x")
	}
	a, sightA := take(t, tree, workspace.Before), sight(t, dir)
	remove(t, dir, "d3", "swap")
	for i := range 300 {
		put(t, dir, "d"+strconv.Itoa(i%10)+"/g"+strconv.Itoa(i), "new", "d5/f"+strconv.Itoa(i), "changed", "swap/"+strconv.Itoa(i), "a file now")
	}
	b, sightB := take(t, tree, workspace.After), sight(t, dir)
	for range kills() {
		killWhen(t, child(t, "TestChildRewindsForever", data, dir, a.ID, b.ID), filepath.Join(data, "*", "journal"))
		take(t, tree, workspace.After)
		if got := sight(t, dir); got != sightA && got != sightB {
			wantSight(t, "after the kill", dir, sightA)
		}
		if left, _ := filepath.Glob(filepath.Join(data, "*", "journal")); left != nil {
			t.Fatal("the journal is still there")
		}
	}
}

func TestChildRewindsForever(t *testing.T) {
	data, dir, marks := inChild(t)
	tree := openAt(t, data, dir, nil)
	for i := 0; ; i++ {
		_, err := tree.Rewind(t.Context(), session, marks[i%2], true)
		must(t, err)
	}
}

func TestKilledInTheMiddleOfASnapshot(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	tree := openAt(t, data, dir, nil)
	put(t, dir, "a", "a", "d/b", "b")
	m, before := take(t, tree, workspace.Before), sight(t, dir)
	for range kills() {
		killWhen(t, child(t, "TestChildSnapshotsForever", data, dir), filepath.Join(data, "*", "objects", "temp", "*"))
		rewind(t, tree, m, true)
		wantSight(t, "after the kill", dir, before)
	}
	_, err := tree.Collect(t.Context())
	must(t, err)
	for _, pattern := range []string{"*/objects/temp/*", "*/*.tmp", "*/marks/*/*.tmp"} {
		if left, _ := filepath.Glob(filepath.Join(data, pattern)); left != nil {
			t.Errorf("left behind: %v", left)
		}
	}
	rewind(t, tree, m, true)
	wantSight(t, "after the collection", dir, before)
}

func TestChildSnapshotsForever(t *testing.T) {
	data, dir, _ := inChild(t)
	tree := openAt(t, data, dir, nil)
	noise := make([]byte, 4<<20)
	for {
		rand.Read(noise)
		put(t, dir, "noise", string(noise))
		take(t, tree, workspace.Before)
	}
}

// TestAFullDiskLosesNothing runs as a child that may write files of 64 kB at most.
func TestAFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	tree := openAt(t, data, dir, nil)
	put(t, dir, "large", strings.Repeat("large file ", 20_000), "small", "small")
	m, before := take(t, tree, workspace.Before), sight(t, dir)
	out, err := child(t, "TestChildOnAFullDisk", data, dir, m.ID).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rewind(t, tree, m, true)
	wantSight(t, "when there is room again", dir, before)
}

func TestChildOnAFullDisk(t *testing.T) {
	data, dir, marks := inChild(t)
	tree := openAt(t, data, dir, nil)
	noise := make([]byte, 1<<20)
	rand.Read(noise)
	put(t, dir, "noise", string(noise))
	signal.Ignore(syscall.SIGXFSZ)
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}))

	if _, err := tree.Take(t.Context(), session, workspace.Before); !errors.Is(err, object.ErrFull) {
		t.Fatalf("a snapshot without room: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "*", "objects", "temp", "*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	if _, err := tree.Rewind(t.Context(), session, marks[0], true); !errors.Is(err, object.ErrFull) {
		t.Fatalf("a rewind that could not be undone: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, "noise")))

	// Now the snapshots have room and the tree has not.
	put(t, dir, "large", "changed", "small", "changed")
	res, err := tree.Rewind(t.Context(), session, marks[0], true)
	if err == nil || paths(res.Failed) != "large" || paths(res.Restore) != "small" {
		t.Errorf("%v: %+v", err, res)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "large")); string(b) != "changed" {
		t.Errorf("a file that could not be written is %d bytes", len(b))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".harness*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
