//go:build unix

package workspace_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"harness"
	"harness/store/memory"
	"harness/workspace"
)

// on is a node's tree of a directory that nodes share, with data of its own.
func on(t *testing.T, d harness.Depot, dir string) *workspace.Tree {
	t.Helper()
	tree, err := workspace.Open(t.TempDir(), dir, &workspace.Options{Depot: d})
	must(t, err)
	return tree
}

func takeFor(t *testing.T, tree *workspace.Tree, id harness.SessionID, p workspace.Phase) workspace.Mark {
	t.Helper()
	m, err := tree.Take(t.Context(), id, p)
	must(t, err)
	return m
}

func TestARewindGoesBackToAMarkOfAnotherNode(t *testing.T) {
	t.Parallel()
	depot, dir := memory.NewDepot(), t.TempDir()
	a, b, c := on(t, depot, dir), on(t, depot, dir), on(t, depot, dir)
	big := strings.Repeat("a line of some length\n", 50_000)
	put(t, dir, "keep", "1\n", "sub/edit", big, "sub/gone", "g\n")
	before := sight(t, dir)
	m := takeFor(t, a, "ses_1", workspace.Before)
	put(t, dir, "sub/edit", "other\n", "new", "n\n")
	remove(t, dir, "sub/gone")
	takeFor(t, a, "ses_1", workspace.After)
	changed := sight(t, dir)
	takeFor(t, b, "ses_1", workspace.Before) // the next turn runs elsewhere
	put(t, dir, "sub/more", "m\n")
	takeFor(t, b, "ses_1", workspace.After)
	put(t, dir, "keep", "somebody else's\n")
	res, err := c.Rewind(t.Context(), "ses_1", m.ID, false)
	must(t, err)
	if got := paths(res.Conflict); got != "keep" {
		t.Errorf("conflicts are %s", got)
	}
	put(t, dir, "keep", "1\n")
	wantSight(t, "after a rewind on a third node", dir, before)
	put(t, dir, "keep", "somebody else's\n")
	_, err = a.Rewind(t.Context(), "ses_1", res.Safety.ID, true)
	must(t, err)
	remove(t, dir, "sub/more")
	put(t, dir, "keep", "1\n")
	wantSight(t, "after it was undone on the first", dir, changed)
}

// failing is a depot that fails from some delivery on.
type failing struct {
	harness.Depot
	when func(harness.Delivery) bool
}

func (f *failing) Deliver(ctx context.Context, d harness.Delivery) (uint64, error) {
	if f.when != nil && f.when(d) {
		return 0, harness.ErrStorage
	}
	return f.Depot.Deliver(ctx, d)
}

func TestARewindThatANodeLeftIsFinishedByAnother(t *testing.T) {
	t.Parallel()
	depot, dir := memory.NewDepot(), t.TempDir()
	cut := &failing{Depot: depot}
	a, b := on(t, cut, dir), on(t, depot, dir)
	put(t, dir, "x", "1\n", "y", "1\n")
	before := sight(t, dir)
	m := takeFor(t, a, "ses_1", workspace.Before)
	put(t, dir, "x", "2\n", "y", "2\n", "z", "2\n")
	takeFor(t, a, "ses_1", workspace.After)
	told := false // of the journal: from then on the node cannot reach the depot
	cut.when = func(d harness.Delivery) bool {
		was := told
		told = told || len(d.Add) == 1 && d.Add[0].Name == "journal"
		return was
	}
	if _, err := a.Rewind(t.Context(), "ses_1", m.ID, false); !errors.Is(err, harness.ErrStorage) {
		t.Fatalf("a rewind without an end: %v", err)
	}
	put(t, dir, "y", "2\n") // as if it had not come so far
	takeFor(t, b, "ses_2", workspace.Before)
	wantSight(t, "after another node's mark", dir, before)
	p, err := depot.Place(t.Context(), placeOf(t, depot, dir), 0)
	must(t, err)
	for _, f := range p.Files {
		if f.Name == "journal" {
			t.Error("the journal is left")
		}
	}
	cut.when = nil
	takeFor(t, a, "ses_3", workspace.Before)
	wantSight(t, "after the first is back", dir, before)
}

// placeOf is the one place of a depot that a directory has.
func placeOf(t *testing.T, _ harness.Depot, dir string) string {
	t.Helper()
	data := t.TempDir()
	tree, err := workspace.Open(data, dir, nil)
	must(t, err)
	takeFor(t, tree, "ses_0", workspace.Before)
	entries, err := os.ReadDir(data)
	must(t, err)
	return "trees/" + entries[0].Name()
}

// TestNodesThatMarkAndCollectAtOnceKeepEveryMark has nodes take snapshots of one
// directory, forget some and tidy up at the same time. Whatever mark is left can
// be gone back to on a node that is new.
func TestNodesThatMarkAndCollectAtOnceKeepEveryMark(t *testing.T) {
	t.Parallel()
	depot, dir := memory.NewDepot(), t.TempDir()
	rounds := 4
	if os.Getenv("LONG") != "" {
		rounds = 200
	}
	var mu sync.Mutex // guards what follows
	sights := map[string]string{}
	var wg sync.WaitGroup
	for n := range 3 {
		tree, id := on(t, depot, dir), harness.SessionID(fmt.Sprint("ses_", n))
		wg.Go(func() {
			for i := range rounds {
				content := strings.Repeat(fmt.Sprintf("%d of %d\n", i, n), 2000)
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", n)), []byte(content), 0o600); err != nil {
					t.Error(err)
				}
				m, err := tree.Take(t.Context(), id, workspace.Before)
				if err != nil {
					t.Errorf("node %d: %v", n, err)
					return
				}
				mu.Lock()
				sights[m.ID] = content
				mu.Unlock()
				if i%2 == 1 {
					forgotten := harness.SessionID(fmt.Sprintf("ses_%d_%d", n, i))
					if _, err = tree.Take(t.Context(), forgotten, workspace.Before); err == nil {
						err = tree.Forget(forgotten)
					}
					if err == nil {
						_, err = tree.Collect(t.Context())
					}
					if err != nil {
						t.Errorf("node %d: %v", n, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	fresh := on(t, depot, dir)
	for n := range 3 {
		id := harness.SessionID(fmt.Sprint("ses_", n))
		for i, m := range marksOf(t, fresh, id) {
			if i%2 != 0 && os.Getenv("LONG") == "" {
				continue
			}
			_, err := fresh.Rewind(t.Context(), id, m.ID, true)
			must(t, err)
			if got, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("f", n))); err != nil || string(got) != sights[m.ID] {
				t.Fatalf("mark %s: %.20q…, %v; want %.20q…", m.ID, got, err, sights[m.ID])
			}
		}
	}
}

// marksOf are the marks of a session on a node that has just come.
func marksOf(t *testing.T, tree *workspace.Tree, id harness.SessionID) []workspace.Mark {
	t.Helper()
	takeFor(t, tree, "ses_look", workspace.Before)
	all, err := tree.Marks(id)
	must(t, err)
	if len(all) == 0 {
		t.Fatalf("%s has no marks", id)
	}
	return all
}

// TestATidyingThatIsCutOffLeavesACopyThatIsMadeGood cuts the way to the depot
// when a node has tidied up its copy and not yet told.
func TestATidyingThatIsCutOffLeavesACopyThatIsMadeGood(t *testing.T) {
	t.Parallel()
	depot, dir := memory.NewDepot(), t.TempDir()
	cut := &failing{Depot: depot}
	a := on(t, cut, dir)
	var marks []workspace.Mark
	for i := range 3 {
		put(t, dir, "x", strings.Repeat(fmt.Sprint(i), 5000))
		marks = append(marks, takeFor(t, a, "ses_1", workspace.Before))
		takeFor(t, a, harness.SessionID(fmt.Sprint("ses_gone_", i)), workspace.Before)
		must(t, a.Forget(harness.SessionID(fmt.Sprint("ses_gone_", i))))
	}
	noise := make([]byte, 100_000)
	rand.Read(noise)
	put(t, dir, "y", string(noise))
	takeFor(t, a, "ses_gone", workspace.Before)
	must(t, a.Forget("ses_gone"))
	remove(t, dir, "y")
	takeFor(t, a, "ses_1", workspace.After)
	cut.when = func(harness.Delivery) bool { return true }
	if _, err := a.Collect(t.Context()); !errors.Is(err, harness.ErrStorage) {
		t.Fatalf("a tidying without its end: %v", err)
	}
	cut.when = nil
	for i, m := range marks {
		_, err := a.Rewind(t.Context(), "ses_1", m.ID, true)
		must(t, err)
		if got, err := os.ReadFile(filepath.Join(dir, "x")); err != nil || string(got) != strings.Repeat(fmt.Sprint(i), 5000) {
			t.Errorf("mark %d: %.10q…, %v", i, got, err)
		}
	}
}

func TestSnapshotsGoWithTheLastSessionOfATree(t *testing.T) {
	t.Parallel()
	depot, dir := memory.NewDepot(), t.TempDir()
	a, b := on(t, depot, dir), on(t, depot, dir)
	put(t, dir, "x", "1\n")
	kept := takeFor(t, a, "ses_1", workspace.Before)
	takeFor(t, b, "ses_2", workspace.Before)
	depot.Remove("ses_2")
	takeFor(t, a, "ses_1", workspace.After)
	if all, err := a.Marks("ses_2"); err != nil || len(all) > 0 {
		t.Errorf("marks of a session that was removed: %v, %v", all, err)
	}
	depot.Remove("ses_1")
	if p, err := depot.Place(t.Context(), placeOf(t, depot, dir), 0); err != nil || len(p.Files) > 0 {
		t.Errorf("left: %+v, %v", p, err)
	}
	if _, err := b.Rewind(t.Context(), "ses_1", kept.ID, false); !errors.Is(err, workspace.ErrGone) {
		t.Errorf("a rewind to what was removed: %v", err)
	}
	m := takeFor(t, b, "ses_3", workspace.Before) // whole again, though its index knew the files
	put(t, dir, "x", "2\n")
	_, err := a.Rewind(t.Context(), "ses_3", m.ID, true)
	must(t, err)
	if got, err := os.ReadFile(filepath.Join(dir, "x")); err != nil || !bytes.Equal(got, []byte("1\n")) {
		t.Errorf("it is %q, %v", got, err)
	}
}

func TestWhatWasKeptBeforeItIsSharedIsShared(t *testing.T) {
	t.Parallel()
	data, dir, depot := t.TempDir(), t.TempDir(), memory.NewDepot()
	alone, err := workspace.Open(data, dir, nil)
	must(t, err)
	put(t, dir, "x", "1\n")
	m := takeFor(t, alone, "ses_1", workspace.Before)
	put(t, dir, "x", "2\n")
	takeFor(t, alone, "ses_1", workspace.After)
	takeFor(t, on(t, depot, dir), "ses_2", workspace.Before) // somebody else was first
	shared, err := workspace.Open(data, dir, &workspace.Options{Depot: depot})
	must(t, err)
	takeFor(t, shared, "ses_1", workspace.Before)
	_, err = on(t, depot, dir).Rewind(t.Context(), "ses_1", m.ID, true)
	must(t, err)
	if got, err := os.ReadFile(filepath.Join(dir, "x")); err != nil || string(got) != "1\n" {
		t.Errorf("it is %q, %v", got, err)
	}
}

// TestADirectoryThatIsNotHereIsMadeAgain is an isolated workspace of a node that
// is gone.
func TestADirectoryThatIsNotHereIsMadeAgain(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	dir := filepath.Join(t.TempDir(), "ses_1", "tree")
	must(t, os.MkdirAll(dir, 0o700))
	put(t, dir, "a/b", "1\n", "c", "2\n")
	must(t, os.Chmod(filepath.Join(dir, "c"), 0o755))
	a := on(t, depot, dir)
	m := takeFor(t, a, "ses_1", workspace.Before)
	put(t, dir, "a/b", "3\n")
	takeFor(t, a, "ses_1", workspace.After)
	was := sight(t, dir)
	must(t, os.RemoveAll(filepath.Dir(dir)))
	trees := workspace.NewTrees(t.TempDir(), &workspace.Options{Depot: depot})
	for _, nothing := range []string{filepath.Join(filepath.Dir(dir), "never"), "relative"} {
		must(t, trees.Restore(t.Context(), nothing))
		if _, err := os.Lstat(nothing); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made of nothing", nothing)
		}
	}
	must(t, trees.Restore(t.Context(), dir))
	wantSight(t, "on another node", dir, was)
	must(t, trees.Restore(t.Context(), dir)) // it is there
	f, err := trees.Of(dir)
	must(t, err)
	got, err := f.Rewind(t.Context(), harness.Rewinding{Session: "ses_1", Mark: m.ID})
	must(t, err)
	if fmt.Sprint(got.FilesChanged, got.Conflicts) != "[a/b] []" {
		t.Errorf("a rewind there: %v, conflicts %v", got.FilesChanged, got.Conflicts)
	}
}
