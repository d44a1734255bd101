package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"harness"
)

// following is a follower in a goroutine of its own.
type following struct {
	events chan harness.Event
	ended  chan error // room for the one
}

// follow follows id until ctx ends, and waits for that at the test's end.
func follow(t testing.TB, ctx context.Context, st harness.Store, id harness.SessionID, after harness.Seq) *following {
	t.Helper()
	p := power[harness.Follower](t, st)
	ctx, cancel := context.WithCancel(ctx)
	f := &following{events: make(chan harness.Event), ended: make(chan error, 1)}
	var wg sync.WaitGroup
	wg.Go(func() {
		var last error
		for e, err := range p.Follow(ctx, id, after) {
			if last = err; err != nil {
				break
			}
			select {
			case f.events <- e:
			case <-ctx.Done():
			}
		}
		f.ended <- last
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return f
}

// mustGive checks the next events of a follower.
func (f *following) mustGive(t testing.TB, want []harness.Event) {
	t.Helper()
	for i, w := range want {
		select {
		case err := <-f.ended:
			t.Fatalf("the follower ended before event %d of %s: %v", w.Seq, w.Session, err)
		default:
		}
		e := next(t, f.events, fmt.Sprintf("event %d of %s, number %d", w.Seq, w.Session, i))
		if string(e.JSON()) != string(w.JSON()) {
			t.Fatalf("a follower got\n     %.300s\nwant %.300s", e.JSON(), w.JSON())
		}
	}
}

func followYieldsWhatIsThereAndWhatComes(t testing.TB, n Nodes) {
	node := n.Open(t)
	here, there := node(t), node(t)
	power[harness.Follower](t, here)
	mustAppend(t, here, commit("a", 0, 5), commit("b", 0, 1))
	all := events(commit("a", 0, 5))
	followers := map[harness.Seq][]*following{}
	for _, after := range []harness.Seq{0, 3, 5} {
		for _, st := range []harness.Store{here, there, there} {
			f := follow(t, t.Context(), st, "a", after)
			f.mustGive(t, all[after:])
			followers[after] = append(followers[after], f)
		}
	}
	ahead := follow(t, t.Context(), there, "a", 9) // a place that the log has not reached
	for head := harness.Seq(5); head < 29; head += 3 {
		c := commit("a", head, 3)
		mustAppend(t, []harness.Store{here, there}[head%2], c, commit("b", (head-5)/3+1, 1))
		all = append(all, c.Events...)
		for _, fs := range followers {
			for _, f := range fs {
				f.mustGive(t, c.Events)
			}
		}
	}
	ahead.mustGive(t, all[9:])
	late := follow(t, t.Context(), there, "a", 1)
	late.mustGive(t, all[1:])
}

func followOfABranchReadsThrough(t testing.TB, n Nodes) {
	node := n.Open(t)
	here, there := node(t), node(t)
	power[harness.Follower](t, here)
	a, b := commit("a", 0, 6), branch("b", "a", 4, 2)
	mustAppend(t, here, a, b)
	f, tail := follow(t, t.Context(), there, "b", 1), follow(t, t.Context(), there, "b", 5)
	f.mustGive(t, append(a.Events[1:4:4], b.Events...))
	tail.mustGive(t, b.Events[1:])
	mustAppend(t, here, commit("a", 6, 1))
	c := commit("b", 6, 2)
	mustAppend(t, here, c)
	f.mustGive(t, c.Events)
	tail.mustGive(t, c.Events)
}

// aSlowFollowerMissesNothing lets one follower sleep while a log grows by more
// than any store keeps in memory, and another keep up.
func aSlowFollowerMissesNothing(t testing.TB, n Nodes) {
	node := n.Open(t)
	here, there := node(t), node(t)
	power[harness.Follower](t, here)
	const size, total = 250, 3000
	mustAppend(t, here, commit("a", 0, 1))
	slow, quick := follow(t, t.Context(), there, "a", 0), follow(t, t.Context(), there, "a", 0)
	slow.mustGive(t, commit("a", 0, 1).Events)
	quick.mustGive(t, commit("a", 0, 1).Events)
	for head := harness.Seq(1); head < total; head += size {
		c := commit("a", head, size)
		mustAppend(t, here, c)
		quick.mustGive(t, c.Events)
	}
	slow.mustGive(t, commit("a", 1, total).Events)
}

func followEndsWithItsContextOrItsSession(t testing.TB, n Nodes) {
	node := n.Open(t)
	here, there := node(t), node(t)
	power[harness.Follower](t, here)
	missing := follow(t, t.Context(), there, "nobody", 0)
	mustBe(t, next(t, missing.ended, "the end of a follower of nothing"), harness.ErrNotFound, "a session without a log")
	mustAppend(t, here, commit("a", 0, 2))
	ctx, cancel := during(t)
	one, other := follow(t, ctx, there, "a", 0), follow(t, t.Context(), there, "a", 0)
	one.mustGive(t, commit("a", 0, 2).Events)
	other.mustGive(t, commit("a", 0, 2).Events)
	cancel()
	if err := next(t, one.ended, "the end of a cancelled follower"); !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled follower ended with %v", err)
	}
	mustAppend(t, here, commit("a", 2, 1))
	other.mustGive(t, commit("a", 2, 1).Events)
	if r, ok := here.(harness.Remover); ok {
		if err := r.Remove(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		mustBe(t, next(t, other.ended, "the end of a follower whose session was removed"), harness.ErrNotFound, "a session that was removed")
	}
}
