package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"harness"
)

// receiving is the orders of an owner, from a goroutine of its own.
func receiving(t testing.TB, st harness.Store, owner string) <-chan harness.Order {
	t.Helper()
	in := power[harness.Inbox](t, st)
	ctx, cancel := context.WithCancel(t.Context())
	orders := make(chan harness.Order)
	var wg sync.WaitGroup
	wg.Go(func() {
		for o, err := range in.Receive(ctx, owner) {
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("orders for %s: %v", owner, err)
				}
				return
			}
			select {
			case orders <- o:
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return orders
}

// sent is an order on its way.
type sent struct {
	answer []byte
	err    error
}

func send(t testing.TB, ctx context.Context, st harness.Store, o harness.Order) <-chan sent {
	t.Helper()
	in := power[harness.Inbox](t, st)
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan sent, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		answer, err := in.Send(ctx, o)
		out <- sent{answer, err}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return out
}

func order(id harness.SessionID, key string) harness.Order {
	return harness.Order{Session: id, Key: key, Body: fmt.Appendf(nil, "do %s\x00\xff", key)}
}

func mustReceive(t testing.TB, orders <-chan harness.Order, want harness.Order, lease harness.Lease) harness.Order {
	t.Helper()
	got := next(t, orders, "order "+want.Key)
	if got.Session != want.Session || got.Key != want.Key || string(got.Body) != string(want.Body) || got.Epoch != lease.Epoch {
		t.Fatalf("received %+v, want %+v under %+v", got, want, lease)
	}
	return got
}

func mustAnswer(t testing.TB, st harness.Store, o harness.Order, answer string) {
	t.Helper()
	if err := power[harness.Inbox](t, st).Answer(t.Context(), o, []byte(answer)); err != nil {
		t.Fatalf("answer %s: %v", o.Key, err)
	}
}

func mustBeAnswered(t testing.TB, out <-chan sent, want string) {
	t.Helper()
	if got := next(t, out, "the answer "+want); got.err != nil || string(got.answer) != want {
		t.Fatalf("got the answer %q, %v, want %q", got.answer, got.err, want)
	}
}

func anOrderIsAnsweredByTheOwner(t testing.TB, n Nodes) {
	stores, nodes := joined(t, n, living, living)
	power[harness.Inbox](t, stores[0])
	a, b := mustClaim(t, nodes[0], "n0", "a"), mustClaim(t, nodes[1], "n1", "b")
	at0, at1 := receiving(t, stores[0], "n0"), receiving(t, stores[1], "n1")
	for i := range 5 {
		toA, toB := order("a", fmt.Sprint("k", i)), order("b", fmt.Sprint("k", i))
		fromOther, fromSelf := send(t, t.Context(), stores[1], toA), send(t, t.Context(), stores[1], toB)
		mustAnswer(t, stores[0], mustReceive(t, at0, toA, a), fmt.Sprint("a did ", i))
		mustAnswer(t, stores[1], mustReceive(t, at1, toB, b), "")
		mustBeAnswered(t, fromOther, fmt.Sprint("a did ", i))
		mustBeAnswered(t, fromSelf, "")
	}
	large := harness.Order{Session: "a", Key: "large", Body: make([]byte, harness.MaxOrder+1)}
	mustBe(t, next(t, send(t, t.Context(), stores[1], large), "a large order").err, harness.ErrTooLarge, "an order that is too large")
}

func theSameKeyIsTheSameOrder(t testing.TB, n Nodes) {
	stores, nodes := joined(t, n, living, living)
	power[harness.Inbox](t, stores[0])
	lease := mustClaim(t, nodes[0], "n0", "a")
	orders := receiving(t, stores[0], "n0")
	var waiting []<-chan sent
	for i := range 8 {
		waiting = append(waiting, send(t, t.Context(), stores[i%2], order("a", "same")))
	}
	first := mustReceive(t, orders, order("a", "same"), lease)
	waiting = append(waiting, send(t, t.Context(), stores[1], order("a", "same")))
	other := send(t, t.Context(), stores[1], order("a", "other"))
	mustAnswer(t, stores[0], mustReceive(t, orders, order("a", "other"), lease), "other done") // and not the same again
	mustBeAnswered(t, other, "other done")
	mustAnswer(t, stores[0], first, "done")
	mustAnswer(t, stores[0], first, "done")
	mustBe(t, power[harness.Inbox](t, stores[0]).Answer(t.Context(), first, []byte("otherwise")), harness.ErrConflict, "another answer")
	for _, out := range append(waiting, send(t, t.Context(), stores[1], order("a", "same"))) {
		mustBeAnswered(t, out, "done")
	}
}

func anOrderWaitsForAnOwner(t testing.TB, n Nodes) {
	stores, nodes := joined(t, n, living, living)
	power[harness.Inbox](t, stores[0])
	orders := receiving(t, stores[0], "n0")
	ctx, cancel := during(t)
	passing := mustClaim(t, nodes[1], "n1", "a") // an owner that goes before it has answered
	out := send(t, ctx, stores[1], order("a", "early"))
	mustReceive(t, receiving(t, stores[1], "n1"), order("a", "early"), passing)
	if err := nodes[1].Release(t.Context(), passing); err != nil {
		t.Fatal(err)
	}
	b := mustClaim(t, nodes[0], "n0", "b") // an order that comes later, and is received
	mustAnswerNext := func(o harness.Order, l harness.Lease, with string) {
		t.Helper()
		mustAnswer(t, stores[0], mustReceive(t, orders, o, l), with)
	}
	later := send(t, t.Context(), stores[1], order("b", "later"))
	mustAnswerNext(order("b", "later"), b, "later done")
	mustBeAnswered(t, later, "later done")
	cancel()
	if got := next(t, out, "the end of a sender"); !errors.Is(got.err, context.Canceled) {
		t.Fatalf("a sender whose context ended got %q, %v", got.answer, got.err)
	}
	mustAnswerNext(order("a", "early"), mustClaim(t, nodes[0], "n0", "a"), "early done")
	mustBeAnswered(t, send(t, t.Context(), stores[1], order("a", "early")), "early done")
}

func anUnansweredOrderGoesToTheNextOwner(t testing.TB, n Nodes) {
	stores, nodes := joined(t, n, short, living, living)
	in := power[harness.Inbox](t, stores[0])
	lease := mustClaim(t, nodes[0], "n0", "a")
	out := send(t, t.Context(), stores[2], order("a", "k"))
	old := mustReceive(t, receiving(t, stores[0], "n0"), order("a", "k"), lease)
	orders := receiving(t, stores[1], "n1")
	again := mustReceive(t, orders, order("a", "k"), takeOver(t, nodes[1], "n1", "a"))
	mustBe(t, in.Answer(t.Context(), old, []byte("of the old owner")), harness.ErrConflict, "an answer of who has lost the lease")
	mustAnswer(t, stores[1], again, "of the new owner")
	mustBeAnswered(t, out, "of the new owner")
	mustBe(t, in.Answer(t.Context(), old, []byte("of the old owner")), harness.ErrConflict, "a late answer of who has lost the lease")
}

func ordersOfASessionKeepTheirOrder(t testing.TB, n Nodes) {
	stores, nodes := joined(t, n, living, living)
	power[harness.Inbox](t, stores[0])
	const total = 40 // more than anybody holds at once
	ctx, cancel := during(t)
	watch := receiving(t, stores[1], "n1")
	lease := mustClaim(t, nodes[1], "n1", "a")
	for i := range total { // each is there before the next is sent, though nobody answers
		send(t, ctx, stores[0], order("a", fmt.Sprint("k", i)))
		mustReceive(t, watch, order("a", fmt.Sprint("k", i)), lease)
	}
	cancel()
	if err := nodes[1].Leave(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	lease = mustClaim(t, nodes[0], "n0", "a")
	orders := receiving(t, stores[0], "n0")
	for i := range total {
		mustAnswer(t, stores[0], mustReceive(t, orders, order("a", fmt.Sprint("k", i)), lease), "done")
	}
}

func aSessionThatAnOrderWaitsForIsAnOrphan(t testing.TB, n Nodes) {
	stores, nodes := joined(t, n, living, living)
	power[harness.Inbox](t, stores[0])
	mustAppend(t, stores[0], commit("a", 0, 1))
	out := send(t, t.Context(), stores[0], order("a", "early"))
	eventually(t, func() string {
		if found := orphans(t, nodes[1]); found["a"] != (harness.Lease{Session: "a"}) {
			return fmt.Sprintf("orphans are %v", found)
		}
		return ""
	})
	lease := mustClaim(t, nodes[1], "n1", "a")
	if found := orphans(t, nodes[0]); len(found) > 0 {
		t.Fatalf("orphans that were claimed: %v", found)
	}
	mustAnswer(t, stores[1], mustReceive(t, receiving(t, stores[1], "n1"), order("a", "early"), lease), "done")
	mustBeAnswered(t, out, "done")
	if err := nodes[1].Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if found := orphans(t, nodes[0]); len(found) > 0 {
		t.Fatalf("orphans without an order: %v", found)
	}
}
