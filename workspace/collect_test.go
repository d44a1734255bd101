package workspace_test

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"harness/workspace"
	"harness/workspace/object"
)

func usage(t testing.TB, data string) (sum int64) {
	t.Helper()
	must(t, filepath.WalkDir(data, func(_ string, e fs.DirEntry, err error) error {
		if info, _ := e.Info(); err == nil && e.Type().IsRegular() {
			sum += info.Size()
		}
		return err
	}))
	return sum
}

func TestCollectFreesWhatNoMarkNeedsAndNothingElse(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	tree := openAt(t, data, dir, nil)
	put(t, dir, "stays", "1")
	m, before := take(t, tree, workspace.Before), sight(t, dir)
	noise := make([]byte, 1<<20)
	for i := range 5 {
		rand.Read(noise)
		put(t, dir, "noise"+strconv.Itoa(i), string(noise))
		_, err := tree.Take(t.Context(), "ses_other", workspace.Before)
		must(t, err)
	}
	if n := usage(t, data); n < 5<<20 {
		t.Fatalf("%d bytes", n)
	}
	remove(t, dir, "noise0", "noise1", "noise2", "noise3", "noise4")
	take(t, tree, workspace.After)
	must(t, tree.Forget("ses_other"))
	c, err := tree.Collect(t.Context())
	must(t, err)
	if n := usage(t, data); n > 64<<10 || c.Freed < 5<<20 {
		t.Errorf("%d bytes are left, %+v", n, c)
	}
	rewind(t, tree, m, true)
	wantSight(t, "after the collection", dir, before)
}

func TestManySmallSnapshotsBecomeFewPacks(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	tree := openAt(t, data, dir, nil)
	var marks []workspace.Mark
	for i := range 30 {
		put(t, dir, "f", strconv.Itoa(i))
		marks = append(marks, take(t, tree, workspace.Before))
	}
	c, err := tree.Collect(t.Context())
	must(t, err)
	if c.Packs != 1 || c.Marks != 0 {
		t.Errorf("%+v", c)
	}
	for i, m := range marks {
		rewind(t, tree, m, true)
		if b, _ := os.ReadFile(filepath.Join(dir, "f")); string(b) != strconv.Itoa(i) {
			t.Fatalf("mark %d has %q", i, b)
		}
	}
}

func TestTheDiskBoundHoldsAndTheOldestMarksGoFirst(t *testing.T) {
	t.Parallel()
	const bound = 8 << 20
	data, dir := t.TempDir(), t.TempDir()
	tree := openAt(t, data, dir, &workspace.Options{Bounds: workspace.Bounds{Disk: bound}})
	noise := make([]byte, 1<<20)
	var marks []workspace.Mark
	for range 30 {
		rand.Read(noise)
		put(t, dir, "noise", string(noise))
		marks = append(marks, take(t, tree, workspace.Before))
		if n := usage(t, data); n > bound+1<<20 {
			t.Fatalf("%d bytes", n)
		}
	}
	if _, err := tree.Plan(t.Context(), session, marks[0].ID, false); !errors.Is(err, workspace.ErrGone) {
		t.Errorf("the oldest mark: %v", err)
	}
	rewind(t, tree, marks[len(marks)-2], true)
	tight := openAt(t, data, dir, &workspace.Options{Bounds: workspace.Bounds{Free: 1 << 60}})
	put(t, dir, "noise", string(noise)+"!")
	if _, err := tight.Take(t.Context(), session, workspace.Before); !errors.Is(err, object.ErrFull) {
		t.Errorf("with no free space wanted by others: %v", err)
	}
}
