package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"harness"
)

// movesOf waits at a store until the log of id moves on from seen; the channel
// has room for more calls than there may be.
func movesOf(t testing.TB, st harness.Store, id harness.SessionID, seen harness.Seq) (told <-chan struct{}, stop func()) {
	t.Helper()
	calls := make(chan struct{}, 8)
	stop = power[harness.Follower](t, st).OnMove(t.Context(), id, seen, func() { calls <- struct{}{} })
	t.Cleanup(stop)
	return calls, stop
}

func whoWaitsIsToldOnceThatALogMoves(t testing.TB, n Nodes) {
	node := n.Open(t)
	here, there := node(t), node(t)
	mustAppend(t, here, commit("a", 0, 3))
	mustAppend(t, here, commit("quiet", 0, 1))
	behind, _ := movesOf(t, there, "a", 2)
	next(t, behind, "a log that had moved before")
	upToDate, _ := movesOf(t, there, "a", 3)
	unborn, _ := movesOf(t, there, "b", 0)
	quiet, _ := movesOf(t, there, "quiet", 1)
	gone, stop := movesOf(t, there, "a", 3)
	stop()
	mustAppend(t, here, commit("a", 3, 1))
	mustAppend(t, here, commit("b", 0, 1))
	next(t, upToDate, "a log that moves")
	next(t, unborn, "a session that is made")
	mustAppend(t, here, commit("a", 4, 1))
	again, _ := movesOf(t, there, "a", 4)
	next(t, again, "a log that moves again")
	if r, ok := here.(harness.Remover); ok {
		removed, _ := movesOf(t, there, "a", 5)
		if err := r.Remove(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		next(t, removed, "a session that is removed")
	}
	for what, calls := range map[string]<-chan struct{}{"a log that did not move": quiet, "who waits no more": gone, "who was told already": upToDate} {
		select {
		case <-calls:
			t.Fatalf("%s: told", what)
		default:
		}
	}
}

func newsReachEveryNode(t testing.TB, n Nodes) {
	stores, nodes := joined(t, n, living, living)
	power[harness.Bells](t, stores[0])
	hang := func(st harness.Store, about harness.Topic) <-chan struct{} {
		bell, away := st.(harness.Bells).Hang(about)
		t.Cleanup(away)
		if cap(bell) != 1 {
			t.Fatalf("a bell with room for %d rings", cap(bell))
		}
		return bell
	}
	orphaned := []<-chan struct{}{hang(stores[0], harness.AboutOrphans), hang(stores[1], harness.AboutOrphans)}
	// A bell may ring for nothing, so what counts is that it rings at all.
	rung := func(bells []<-chan struct{}, what string, again func(i int)) {
		t.Helper()
		for i, bell := range bells {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for every := time.NewTicker(50 * time.Millisecond); ; { // it may be hung a moment after it was asked for
				select {
				case <-bell:
				case <-every.C:
					again(i)
					continue
				case <-ctx.Done():
					t.Fatalf("%s: node %d does not hear of it", what, i)
				}
				every.Stop()
				break
			}
		}
	}
	made := 0
	rung(orphaned, "an owner that leaves", func(int) {
		owner := fmt.Sprint("passing", made)
		if made++; nodes[0].Join(t.Context(), owner, living) != nil || nodes[0].Leave(t.Context(), owner) != nil {
			t.Fatal("an owner cannot come and go")
		}
	})
	book, ok := stores[0].(harness.Rulebook)
	if !ok {
		return
	}
	ruled := []<-chan struct{}{hang(stores[0], harness.AboutRules), hang(stores[1], harness.AboutRules)}
	rung(ruled, "a rule that comes and goes", func(int) {
		c := ruling(harness.SessionID(fmt.Sprint("ruling", made)), 0, rule(made, "/dir", "bash"))
		made++
		mustAppend(t, stores[0], c)
		if err := book.RevokeRule(t.Context(), c.Rules[0].ID); err != nil {
			t.Fatal(err)
		}
	})
}
