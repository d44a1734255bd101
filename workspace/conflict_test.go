package workspace_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"harness"
	"harness/workspace"
)

func TestEditsFromOutsideAreNotEatenUnlessForced(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	put(t, dir, "both", "1", "agent", "1", "user", "1", "between", "1", "gone", "1")
	start := take(t, tree, workspace.Before)
	put(t, dir, "both", "agent", "agent", "agent", "made", "agent")
	take(t, tree, workspace.After)

	put(t, dir, "between", "user", "notes", "user") // between turns
	take(t, tree, workspace.Before)
	put(t, dir, "agent", "agent again", "between", "agent on top")
	take(t, tree, workspace.After)

	put(t, dir, "both", "user", "user", "user", "late", "user") // after the last turn
	remove(t, dir, "gone")
	before := sight(t, dir)

	plan, err := tree.Plan(t.Context(), session, start.ID, false)
	must(t, err)
	wantSight(t, "after a dry run", dir, before)
	res := rewind(t, tree, start, false)
	for _, p := range []workspace.Plan{plan, res.Plan} {
		if paths(p.Restore) != "agent" || paths(p.Delete) != "made" || paths(p.Conflict) != "between both gone late notes user" {
			t.Errorf("%+v", p)
		}
		for _, c := range p.Conflict {
			want := workspace.SinceLastTurn
			if c.Path == "between" || c.Path == "notes" {
				want = workspace.BetweenTurns
			}
			if c.Why != want {
				t.Errorf("%s: %s, want %s", c.Path, c.Why, want)
			}
		}
	}
	for path, want := range map[string]string{"both": "user", "agent": "1", "user": "user", "between": "agent on top", "notes": "user", "late": "user"} {
		if b, _ := os.ReadFile(filepath.Join(dir, path)); string(b) != want {
			t.Errorf("%s is %q, want %q", path, b, want)
		}
	}
	rewind(t, tree, res.Safety, false)
	wantSight(t, "after undoing", dir, before)
	forced := rewind(t, tree, start, true)
	if len(forced.Conflict) != 0 || paths(forced.Delete) != "late made notes" || paths(forced.Restore) != "agent between both gone user" {
		t.Errorf("forced: %+v", forced.Plan)
	}
	rewind(t, tree, forced.Safety, false)
	wantSight(t, "after undoing the forced one", dir, before)
}

func TestTwoSessionsInOneTreeDoNotTakeBackEachOthersWork(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	one, two := openAt(t, data, dir, nil), openAt(t, data, dir, nil)
	const other = harness.SessionID("ses_other")
	put(t, dir, "mine", "1", "yours", "1")
	mark := take(t, one, workspace.Before)
	put(t, dir, "mine", "2")
	theirs, err := two.Take(t.Context(), other, workspace.Before)
	must(t, err)
	put(t, dir, "yours", "2", "yours-new", "2") // while both are at work
	_, err = two.Take(t.Context(), other, workspace.After)
	must(t, err)
	take(t, one, workspace.After)

	res := rewind(t, one, mark, false)
	if paths(res.Restore) != "mine" || paths(res.Conflict) != "yours yours-new" || res.Conflict[0].Why != workspace.AnotherSession {
		t.Errorf("%+v", res.Plan)
	}
	back, err := two.Rewind(t.Context(), other, theirs.ID, false)
	must(t, err)
	if len(back.Restore)+len(back.Delete) != 0 || paths(back.Conflict) != "mine yours yours-new" { // the first was at work all the time
		t.Errorf("%+v", back.Plan)
	}

	// One after the other they can be told apart.
	theirs, err = two.Take(t.Context(), other, workspace.Before)
	must(t, err)
	put(t, dir, "yours", "3")
	_, err = two.Take(t.Context(), other, workspace.After)
	must(t, err)
	mark = take(t, one, workspace.Before)
	put(t, dir, "mine", "3")
	take(t, one, workspace.After)
	back, err = two.Rewind(t.Context(), other, theirs.ID, false)
	must(t, err)
	if paths(back.Restore) != "yours" || paths(back.Conflict) != "mine" {
		t.Errorf("%+v", back.Plan)
	}
	res = rewind(t, one, mark, false)
	if paths(res.Restore) != "mine" || paths(res.Conflict) != "yours" {
		t.Errorf("%+v", res.Plan)
	}
	list, err := one.Marks(session)
	must(t, err)
	if len(list) != 8 {
		t.Errorf("%d marks of the first session, want twice start, end, safety, after", len(list))
	}
}

func TestSnapshotsAndRewindsAtTheSameTimeAreAllWhole(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	tree := openAt(t, data, dir, nil)
	for _, f := range strings.Fields("a b c d e f") {
		put(t, dir, f+"/"+f, strings.Repeat(f, 5000))
	}
	first, before := take(t, tree, workspace.Before), sight(t, dir)
	done := make(chan error)
	workers := []func() error{}
	for i := range 4 {
		id := harness.SessionID("ses_" + string(rune('a'+i)))
		own := openAt(t, data, dir, nil)
		workers = append(workers, func() error {
			for range 10 {
				put(t, dir, string(id)+".txt", strings.Repeat(string(id), i*100))
				m, err := own.Take(t.Context(), id, workspace.Before)
				if err == nil && i%2 == 0 {
					_, err = own.Rewind(t.Context(), id, m.ID, false)
				}
				if err == nil && i == 3 {
					_, err = own.Collect(t.Context())
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, w := range workers {
		go func() { done <- w() }()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	rewind(t, tree, first, true)
	wantSight(t, "after it all", dir, before)
}

func TestRewinderSpeaksOfTheWholeResult(t *testing.T) {
	t.Parallel()
	tree, dir := open(t, nil)
	put(t, dir, "a", "1\n2\n", "odd\nname\xff", "x\n")
	var r harness.Rewinder = workspace.NewFiles(tree)
	mark, err := r.Mark(t.Context(), session, harness.MarkBefore)
	must(t, err)
	put(t, dir, "a", "1\n", "odd\nname\xff", "y\n", "new", "1\n2\n3\n")
	_, err = r.Mark(t.Context(), session, harness.MarkAfter)
	must(t, err)
	put(t, dir, "mine", "outside\n")
	for _, dry := range []bool{true, false} {
		got, err := r.Rewind(t.Context(), harness.Rewinding{Session: session, Mark: mark.ID, DryRun: dry})
		must(t, err)
		if (got.Safety == "") != dry || (got.After == "") != dry {
			t.Errorf("dry %v: safety %q, after %q", dry, got.Safety, got.After)
		}
		got.Safety, got.After = "", ""
		want := harness.Rewound{
			DryRun: dry, FilesChanged: []string{"a", `"odd\nname\xff"`, "new"}, Insertions: 2, Deletions: 4, Conflicts: []string{"mine"},
			Restore:  []harness.RewoundFile{{Path: "a", Insertions: 1}, {Path: `"odd\nname\xff"`, Insertions: 1, Deletions: 1}},
			Delete:   []harness.RewoundFile{{Path: "new", Deletions: 3}},
			Conflict: []harness.RewoundFile{{Path: "mine", Deletions: 1, Reason: workspace.SinceLastTurn}},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}
