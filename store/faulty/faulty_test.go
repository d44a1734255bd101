package faulty_test

import (
	"context"
	"errors"
	"testing"

	"harness"
	"harness/store/faulty"
	"harness/store/memory"
)

var errInjected = errors.New("injected")

// always is a plan that does the same to every call of one method.
func always(m faulty.Method, f faulty.Fault) func(faulty.Op) faulty.Fault {
	return func(op faulty.Op) faulty.Fault {
		if op.Method == m {
			return f
		}
		return faulty.Fault{}
	}
}

func commit(id harness.SessionID, after harness.Seq, n int) harness.Commit {
	c := harness.Commit{Session: id, After: after, Summary: harness.Summary{Session: id, Seq: after + harness.Seq(n)}}
	for i := range n {
		c.Events = append(c.Events, harness.NewEvent(id, after+1+harness.Seq(i), c.Summary.Updated, "", &harness.Token{Text: "x"}))
	}
	return c
}

// length is where the log of id ends in st.
func length(t testing.TB, st harness.Store, id harness.SessionID) (n int) {
	t.Helper()
	for _, err := range st.Read(context.Background(), id, 0) {
		if errors.Is(err, harness.ErrNotFound) {
			return 0
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func TestBeforeHasNoEffectAndAfterHasAll(t *testing.T) {
	t.Parallel()
	inner := memory.New()
	before := faulty.Wrap(inner, always(faulty.Append, faulty.Fault{Before: errInjected}))
	if err := before.Append(t.Context(), commit("a", 0, 2)); !errors.Is(err, errInjected) || length(t, inner, "a") != 0 {
		t.Fatalf("before: got %v and %d events", err, length(t, inner, "a"))
	}
	after := faulty.Wrap(inner, always(faulty.Append, faulty.Fault{After: errInjected}))
	if err := after.Append(t.Context(), commit("a", 0, 2)); !errors.Is(err, errInjected) || length(t, inner, "a") != 2 {
		t.Fatalf("after: got %v and %d events", err, length(t, inner, "a"))
	}
	if err := after.Append(t.Context(), commit("a", 0, 2)); !errors.Is(err, harness.ErrConflict) {
		t.Fatalf("after, on a call that fails by itself: got %v", err)
	}
}

func TestAStreamFailsAtItsBeginningOrAtItsEnd(t *testing.T) {
	t.Parallel()
	inner := memory.New()
	if err := inner.Append(t.Context(), commit("a", 0, 5)); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[int]faulty.Fault{0: {Before: errInjected}, 5: {After: errInjected}} {
		n, last := 0, error(nil)
		for _, err := range faulty.Wrap(inner, always(faulty.Read, f)).Read(t.Context(), "a", 0) {
			if last = err; err == nil {
				n++
			}
		}
		if n != want || !errors.Is(last, errInjected) {
			t.Errorf("%+v: got %d events and then %v", f, n, last)
		}
	}
}

func TestWaitDelaysACallAndCanRefuseIt(t *testing.T) {
	t.Parallel()
	inner, entered, gate := memory.New(), make(chan struct{}), make(chan error)
	st := faulty.Wrap(inner, always(faulty.Append, faulty.Fault{Wait: func(context.Context) error {
		entered <- struct{}{}
		return <-gate
	}}))
	for i, verdict := range []error{errInjected, nil} {
		done := make(chan error)
		go func() { done <- st.Append(context.Background(), commit("a", 0, 1)) }()
		<-entered
		if n := length(t, inner, "a"); n != 0 {
			t.Fatalf("%d events while the call waits", n)
		}
		gate <- verdict
		if err := <-done; err != verdict || length(t, inner, "a") != i {
			t.Fatalf("got %v and %d events", err, length(t, inner, "a"))
		}
	}
}

func TestPowersAreForwardedAndNotInvented(t *testing.T) {
	t.Parallel()
	none := func(faulty.Op) faulty.Fault { return faulty.Fault{} }
	type store = harness.Store
	mem := memory.New()
	type powers struct{ snapshots, removes, rules bool }
	of := func(st harness.Store) (p powers) {
		_, p.snapshots = st.(harness.Snapshotter)
		_, p.removes = st.(harness.Remover)
		_, p.rules = st.(harness.Rulebook)
		return p
	}
	for want, st := range map[powers]harness.Store{
		{}:                 struct{ store }{mem},
		{true, true, true}: mem,
		{snapshots: true}: struct {
			store
			harness.Snapshotter
		}{mem, mem},
		{removes: true}: struct {
			store
			harness.Remover
		}{mem, mem},
		{rules: true}: struct {
			store
			harness.Rulebook
		}{mem, mem},
		{snapshots: true, removes: true}: struct {
			store
			harness.Snapshotter
			harness.Remover
		}{mem, mem, mem},
		{snapshots: true, rules: true}: struct {
			store
			harness.Snapshotter
			harness.Rulebook
		}{mem, mem, mem},
		{removes: true, rules: true}: struct {
			store
			harness.Remover
			harness.Rulebook
		}{mem, mem, mem},
	} {
		if got := of(faulty.Wrap(st, none)); got != want || of(st) != want {
			t.Errorf("the wrapper has %+v, the store %+v", got, want)
		}
	}
}
