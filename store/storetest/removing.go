package storetest

import (
	"fmt"
	"strings"
	"testing"

	"harness"
)

func removeForgets(t testing.TB, s Suite) {
	st := s.Open(t)
	r := remover(t, st)
	mustAppend(t, st, commit("a", 0, 5), commit("b", 0, 5))
	sn, snapshots := st.(harness.Snapshotter)
	if snapshots {
		mustSave(t, sn, snapshot("a", 3, 0, "a0"), snapshot("b", 3, 0, "b0"))
	}
	if err := r.Remove(t.Context(), "a"); err != nil {
		t.Fatalf("remove: %v", err)
	}
	_, err := collect(st.Read(t.Context(), "a", 0))
	mustBe(t, err, harness.ErrNotFound, "read after remove")
	if got := ids(t, st, harness.Filter{}); len(got) != 1 || got[0] != "b" {
		t.Fatalf("list after remove: %v", got)
	}
	mustBe(t, st.Append(t.Context(), commit("a", 5, 1)), harness.ErrConflict, "append where the removed log ended")
	mustBe(t, r.Remove(t.Context(), "a"), harness.ErrNotFound, "remove again")

	again := commit("a", 0, 2)
	mustAppend(t, st, again)
	mustHave(t, st, "a", 0, again.Events)
	mustHave(t, st, "b", 0, commit("b", 0, 5).Events)
	if snapshots {
		_, err := sn.LoadSnapshot(t.Context(), "a", 0)
		mustBe(t, err, harness.ErrNotFound, "snapshot of the removed session under the new one's name")
		_, err = collect(sn.Messages(t.Context(), "a", 0, 1))
		mustBe(t, err, harness.ErrCorrupt, "message of the removed session under the new one's name")
		mustLoad(t, sn, "b", 0, "b", 3)
		mustHaveMessages(t, sn, "b", 0, "b0")
	}
}

func removeIsRefusedWithBranches(t testing.TB, s Suite) {
	st := s.Open(t)
	r := remover(t, st)
	mustAppend(t, st, commit("a", 0, 3), branch("b", "a", 2, 1), branch("c", "b", 3, 1))
	for _, id := range []harness.SessionID{"a", "b"} {
		mustBe(t, r.Remove(t.Context(), id), harness.ErrBranched, "remove of a session with a branch")
	}
	for i := range harness.MaxNamed + 2 {
		mustAppend(t, st, branch(harness.SessionID(fmt.Sprintf("many-%02d", i)), "c", harness.Seq(1+i%4), 1))
		err := r.Remove(t.Context(), "c")
		mustBe(t, err, harness.ErrBranched, "remove of a session with branches")
		for j := range harness.MaxNamed + 2 {
			if named := strings.Contains(err.Error(), fmt.Sprintf("many-%02d", j)); named != (j <= i && j < harness.MaxNamed) {
				t.Fatalf("with %d branches the refusal says %v", i+1, err)
			}
		}
		if others := strings.Contains(err.Error(), "others"); others != (i >= harness.MaxNamed) {
			t.Fatalf("with %d branches the refusal says %v", i+1, err)
		}
	}
	for i := range harness.MaxNamed + 2 {
		if err := r.Remove(t.Context(), harness.SessionID(fmt.Sprintf("many-%02d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if got := history(t, st, "c", 0); len(got) != 4 {
		t.Fatalf("the branch's history has %d events after refused removals", len(got))
	}
	for _, id := range []harness.SessionID{"c", "b", "a"} {
		if err := r.Remove(t.Context(), id); err != nil {
			t.Fatalf("remove %s, whose branches are gone: %v", id, err)
		}
	}
}
