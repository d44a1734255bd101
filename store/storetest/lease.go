package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"harness"
)

const (
	living = time.Hour   // longer than any test
	short  = time.Second // an owner that does not beat is soon dead, but not before it has begun
)

// joined are nodes whose owners n0, n1, … live for so long each.
func joined(t testing.TB, n Nodes, ttls ...time.Duration) (stores []harness.Store, leasers []harness.Leaser) {
	t.Helper()
	node := n.Open(t)
	for range ttls {
		st := node(t)
		stores, leasers = append(stores, st), append(leasers, power[harness.Leaser](t, st))
	}
	for i, l := range slices.Backward(leasers) { // the first lives the shortest
		if err := l.Join(t.Context(), name(i), ttls[i]); err != nil {
			t.Fatalf("join as %s: %v", name(i), err)
		}
	}
	return stores, leasers
}

func name(i int) string { return fmt.Sprintf("n%d", i) }

func mustClaim(t testing.TB, l harness.Leaser, owner string, id harness.SessionID) harness.Lease {
	t.Helper()
	lease, err := l.Claim(t.Context(), owner, id)
	if err != nil || lease.Owner != owner || lease.Session != id || lease.Epoch == 0 {
		t.Fatalf("%s claims %s: got %+v, %v", owner, id, lease, err)
	}
	return lease
}

// takeOver claims id for owner as soon as whoever has it is dead.
func takeOver(t testing.TB, l harness.Leaser, owner string, id harness.SessionID) (lease harness.Lease) {
	t.Helper()
	eventually(t, func() string {
		var err error
		if lease, err = l.Claim(t.Context(), owner, id); errors.Is(err, harness.ErrLocked) {
			return fmt.Sprintf("%s cannot claim %s, %s has it", owner, id, lease.Owner)
		}
		if err != nil {
			t.Fatalf("%s claims %s: %v", owner, id, err)
		}
		return ""
	})
	return lease
}

func ofManyClaimantsOneGetsTheSession(t testing.TB, n Nodes) {
	_, nodes := joined(t, n, living, living, living)
	for round := range 10 {
		id := harness.SessionID(fmt.Sprintf("s%d", round))
		leases, errs := make([]harness.Lease, len(nodes)), make([]error, len(nodes))
		var wg sync.WaitGroup
		for i, l := range nodes {
			wg.Go(func() { leases[i], errs[i] = l.Claim(t.Context(), name(i), id) })
		}
		wg.Wait()
		winners := 0
		for i, err := range errs {
			if err == nil {
				winners++
				if leases[i].Owner != name(i) {
					t.Fatalf("%s was given the lease of %s", name(i), leases[i].Owner)
				}
				continue
			}
			mustBe(t, err, harness.ErrLocked, "a claim that lost")
		}
		if winners != 1 {
			t.Fatalf("%d of %d have %s: %v", winners, len(nodes), id, errs)
		}
	}
}

func aLiveOwnerKeepsItsSessions(t testing.TB, n Nodes) {
	_, nodes := joined(t, n, living, living)
	mine := mustClaim(t, nodes[0], "n0", "a")
	for range 3 {
		if again := mustClaim(t, nodes[0], "n0", "a"); again != mine {
			t.Fatalf("claimed again: got %+v, want %+v", again, mine)
		}
		got, err := nodes[1].Claim(t.Context(), "n1", "a")
		mustBe(t, err, harness.ErrLocked, "a claim of what a live owner has")
		if got != mine {
			t.Fatalf("the refusal says %+v, want %+v", got, mine)
		}
		if err := nodes[0].Beat(t.Context(), "n0"); err != nil {
			t.Fatal(err)
		}
	}
	if orphans, err := collect(nodes[1].Orphans(t.Context())); err != nil || len(orphans) != 0 {
		t.Fatalf("orphans of the living: %v, %v", orphans, err)
	}
	mustBe(t, nodes[1].Join(t.Context(), "n0", living), harness.ErrExists, "a name that is taken")
	_, err := nodes[0].Claim(t.Context(), "never joined", "b")
	mustBe(t, err, harness.ErrConflict, "a claim of nobody")
	mustBe(t, nodes[0].Beat(t.Context(), "never joined"), harness.ErrConflict, "a heartbeat of nobody")
}

func aDeadOwnersSessionsAreTakenOver(t testing.TB, n Nodes) {
	_, nodes := joined(t, n, short, living, living)
	var old []harness.Lease
	for _, id := range []harness.SessionID{"a", "b", "c"} {
		if err := nodes[0].Beat(t.Context(), "n0"); err != nil {
			t.Fatal(err)
		}
		old = append(old, mustClaim(t, nodes[0], "n0", id))
	}
	mustClaim(t, nodes[1], "n1", "d")
	eventually(t, func() string {
		orphans, err := collect(nodes[1].Orphans(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(orphans) != fmt.Sprint(old) {
			return fmt.Sprintf("orphans are %v, want %v", orphans, old)
		}
		return ""
	})
	taken := takeOver(t, nodes[1], "n1", "a")
	if taken.Epoch <= old[0].Epoch {
		t.Fatalf("the epoch was %d and is %d", old[0].Epoch, taken.Epoch)
	}
	mustBe(t, nodes[0].Beat(t.Context(), "n0"), harness.ErrConflict, "a heartbeat of who was taken for dead")
	_, err := nodes[0].Claim(t.Context(), "n0", "e")
	mustBe(t, err, harness.ErrConflict, "a claim of who was taken for dead")
	for _, id := range []harness.SessionID{"b", "c"} {
		mustClaim(t, nodes[2], "n2", id) // at once: its death is known
	}
}

// anOwnerThatWakesUpDoesNoHarm is a process that is stopped for longer than its
// lease in the middle of its work and goes on as if nothing had been.
func anOwnerThatWakesUpDoesNoHarm(t testing.TB, n Nodes) {
	stores, nodes := joined(t, n, short, living)
	old := mustClaim(t, nodes[0], "n0", "a")
	mustAppend(t, stores[0], commit("a", 0, 3))
	lease := takeOver(t, nodes[1], "n1", "a")
	theirs := harness.Commit{Session: "a", After: 3, Summary: summary("a", 4), Events: []harness.Event{
		harness.NewEvent("a", 4, epoch, "", &harness.Token{Text: "of the new owner"})}}
	mustAppend(t, stores[1], theirs)
	mustBe(t, stores[0].Append(t.Context(), commit("a", 3, 2)), harness.ErrConflict, "an append of the old owner")
	if err := nodes[0].Release(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if again := mustClaim(t, nodes[1], "n1", "a"); again != lease {
		t.Fatalf("the new owner's lease was %+v and is %+v", lease, again)
	}
	mustAppend(t, stores[1], commit("a", 4, 1))
	mustHave(t, stores[0], "a", 0, append(append(commit("a", 0, 3).Events, theirs.Events...), commit("a", 4, 1).Events...))
	if err := nodes[0].Join(t.Context(), "n0 again", living); err != nil {
		t.Fatalf("join again under another name: %v", err)
	}
	mustClaim(t, nodes[0], "n0 again", "b")
}

// orphans are what somebody may take over, by session.
func orphans(t testing.TB, l harness.Leaser) map[harness.SessionID]harness.Lease {
	t.Helper()
	found := map[harness.SessionID]harness.Lease{}
	for o, err := range l.Orphans(t.Context()) {
		if err != nil {
			t.Fatalf("orphans: %v", err)
		}
		found[o.Session] = o
	}
	return found
}

func leavingOrphansEverything(t testing.TB, n Nodes) {
	_, nodes := joined(t, n, living, living)
	left := map[harness.SessionID]harness.Lease{}
	for _, id := range []harness.SessionID{"a", "b", "c"} {
		left[id] = mustClaim(t, nodes[0], "n0", id)
	}
	if err := nodes[0].Release(t.Context(), left["c"]); err != nil {
		t.Fatal(err)
	}
	delete(left, "c")
	mustClaim(t, nodes[1], "n1", "d")
	if err := nodes[0].Leave(t.Context(), "n0"); err != nil {
		t.Fatal(err)
	}
	if found := orphans(t, nodes[1]); !maps.Equal(found, left) {
		t.Fatalf("orphans are %v, want %v", found, left)
	}
	for id := range left {
		mustClaim(t, nodes[1], "n1", id)
	}
	if found := orphans(t, nodes[1]); len(found) > 0 {
		t.Fatalf("orphans that were claimed: %v", found)
	}
	mustBe(t, nodes[0].Beat(t.Context(), "n0"), harness.ErrConflict, "a heartbeat of who has left")
	_, err := nodes[0].Claim(t.Context(), "n0", "e")
	mustBe(t, err, harness.ErrConflict, "a claim of who has left")
}

func releasingAnOldLeaseChangesNothing(t testing.TB, n Nodes) {
	_, nodes := joined(t, n, living, living)
	release := func(l harness.Lease) {
		t.Helper()
		if err := nodes[0].Release(t.Context(), l); err != nil {
			t.Fatalf("release %+v: %v", l, err)
		}
	}
	first := mustClaim(t, nodes[0], "n0", "a")
	release(first)
	second := mustClaim(t, nodes[0], "n0", "a")
	if second.Epoch <= first.Epoch {
		t.Fatalf("the epoch was %d and is %d", first.Epoch, second.Epoch)
	}
	release(first)
	if got := mustClaim(t, nodes[0], "n0", "a"); got != second {
		t.Fatalf("after the release of an old lease: %+v, want %+v", got, second)
	}
	release(second)
	release(second)
	mustClaim(t, nodes[1], "n1", "a")
}
