package storetest

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
	"harness/store/memory"
)

// nodesOf is a suite for nodes of a store that is right but for what wrap does
// to it.
func nodesOf(wrap func(sharedPowers) harness.Store) Nodes {
	return Nodes{Open: func(testing.TB) func(testing.TB) harness.Store {
		st := wrap(newShared())
		return func(testing.TB) harness.Store { return st }
	}}
}

func TestNodesOfOneMemoryKeepTheirPromises(t *testing.T) {
	t.Parallel()
	nodesOf(func(st sharedPowers) harness.Store { return st }).Run(t)
}

func TestAStoreForOneProcessIsNotAskedForPowersOfMany(t *testing.T) {
	t.Parallel()
	Nodes{Open: func(testing.TB) func(testing.TB) harness.Store {
		st := memory.New()
		return func(testing.TB) harness.Store { return st }
	}}.Run(t)
}

// TestAWrongSharedStoreFailsExactlyThePromiseItBreaks is for nodes what the test
// of that name is for one store.
func TestAWrongSharedStoreFailsExactlyThePromiseItBreaks(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for _, broken := range sharedPromises {
		wrap, ok := wrongShared[broken.name]
		if !ok {
			t.Errorf("%s: no store breaks it", broken.name)
			continue
		}
		wg.Go(func() {
			for _, p := range sharedPromises {
				asPromise := promise{p.name, func(t testing.TB, _ Suite) { p.check(t, nodesOf(wrap)) }}
				switch failure := failureOf(t, asPromise, Suite{}); {
				case p.name == broken.name && failure == "":
					t.Errorf("%s: its wrong store passes", broken.name)
				case p.name != broken.name && failure != "":
					t.Errorf("the wrong store of %s also fails %s: %s", broken.name, p.name, failure)
				}
			}
		})
	}
	wg.Wait()
	if len(wrongShared) != len(sharedPromises) {
		t.Errorf("%d wrong stores for %d promises", len(wrongShared), len(sharedPromises))
	}
}

// wrongShared has a store for each promise that breaks it and nothing else.
var wrongShared = map[string]func(sharedPowers) harness.Store{
	"FollowYieldsWhatIsThereAndWhatComes": followed(func(st sharedPowers, ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
		if after == 9 {
			after = 0 // takes a place ahead for a mistake
		}
		return st.Follow(ctx, id, after)
	}),
	"FollowOfABranchReadsThrough": followed(func(st sharedPowers, ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
		return without(st.Follow(ctx, id, after), func(e harness.Event) bool { return id == "b" && e.Session != id })
	}),
	"ASlowFollowerMissesNothingAndHoldsNobodyUp": followed(func(st sharedPowers, ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
		return without(st.Follow(ctx, id, after), func(e harness.Event) bool { return e.Seq == 1500 })
	}),
	"FollowEndsWithItsContextOrItsSession": followed(func(st sharedPowers, ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
		return func(yield func(harness.Event, error) bool) {
			for e, err := range st.Follow(ctx, id, after) {
				if errors.Is(err, context.Canceled) || !yield(e, err) {
					return // as if that were the end of the log
				}
			}
		}
	}),

	"WhoWaitsIsToldOnceThatALogMoves": func(st sharedPowers) harness.Store { return insistent{st} },
	"NewsReachEveryNode":              func(st sharedPowers) harness.Store { return deaf{st} },

	"OfManyClaimantsOneGetsTheSession":           func(st sharedPowers) harness.Store { return &generous{sharedPowers: st} },
	"ALiveOwnerKeepsItsSessions":                 func(st sharedPowers) harness.Store { return nameless{st} },
	"ADeadOwnersSessionsAreTakenOver":            func(st sharedPowers) harness.Store { return &revived{sharedPowers: st} },
	"AnOwnerThatWakesUpDoesNoHarm":               func(st sharedPowers) harness.Store { return unfenced{st} },
	"LeavingOrphansEverything":                   func(st sharedPowers) harness.Store { return &revived{sharedPowers: st, wantLeft: true} },
	"ReleasingAnOldLeaseChangesNothing":          func(st sharedPowers) harness.Store { return careless{st} },
	"AnOrderIsAnsweredByTheOwner":                sending(func(o harness.Order, err error) bool { return len(o.Body) > harness.MaxOrder }),
	"AnOrderWaitsForAnOwnerAndOutlivesItsSender": sending(func(o harness.Order, err error) bool { return o.Key == "early" && errors.Is(err, context.Canceled) }),
	"TheSameKeyIsTheSameOrder":                   func(st sharedPowers) harness.Store { return agreeing{st, "otherwise"} },
	"AnUnansweredOrderGoesToTheNextOwner":        func(st sharedPowers) harness.Store { return agreeing{st, "of the old owner"} },
	"ASessionThatAnOrderWaitsForIsAnOrphan":      func(st sharedPowers) harness.Store { return grasping{st, new(atomic.Bool)} },
	"OrdersOfASessionKeepTheirOrder":             func(st sharedPowers) harness.Store { return disorderly{st} },

	"WhatIsDeliveredIsFetchedAnywhere": func(st sharedPowers) harness.Store { return talkative{st} },
	"ADeliveryIsConditional":           func(st sharedPowers) harness.Store { return unconditional{st} },
	"FilesGoWithTheirSession":          func(st sharedPowers) harness.Store { return hoarding{st} },
	"TheSameContentComesAndGoes":       func(st sharedPowers) harness.Store { return &wasteful{sharedPowers: st} },
	"APlaceIsHeldByOne":                func(st sharedPowers) harness.Store { return lenient{st} },
}

type follower struct {
	sharedPowers
	f func(sharedPowers, context.Context, harness.SessionID, harness.Seq) iter.Seq2[harness.Event, error]
}

func followed(f func(sharedPowers, context.Context, harness.SessionID, harness.Seq) iter.Seq2[harness.Event, error]) func(sharedPowers) harness.Store {
	return func(st sharedPowers) harness.Store { return follower{st, f} }
}

func (f follower) Follow(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return f.f(f.sharedPowers, ctx, id, after)
}

// insistent tells everything twice.
type insistent struct{ sharedPowers }

func (i insistent) OnMove(ctx context.Context, id harness.SessionID, seen harness.Seq, f func()) func() {
	return i.sharedPowers.OnMove(ctx, id, seen, func() {
		f()
		f()
	})
}

// deaf has bells that lose a ring while nobody looks.
type deaf struct{ sharedPowers }

func (d deaf) Hang(harness.Topic) (<-chan struct{}, func()) { return make(chan struct{}), func() {} }

// grasping takes a session for an orphan that was one.
type grasping struct {
	sharedPowers
	was *atomic.Bool
}

func (g grasping) Orphans(ctx context.Context) iter.Seq2[harness.Lease, error] {
	return func(yield func(harness.Lease, error) bool) {
		ordered := harness.Lease{Session: "a"}
		if g.was.Load() {
			yield(ordered, nil)
			return
		}
		for l, err := range g.sharedPowers.Orphans(ctx) {
			if l == ordered {
				g.was.Store(true)
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

// generous gives a session to everybody who comes at the same time.
type generous struct {
	sharedPowers
}

func (g *generous) Claim(ctx context.Context, owner string, id harness.SessionID) (harness.Lease, error) {
	l, err := g.sharedPowers.Claim(ctx, owner, id)
	if errors.Is(err, harness.ErrLocked) && id[0] == 's' {
		l.Owner = owner
		return l, nil
	}
	return l, err
}

// nameless does not mind a name that is taken.
type nameless struct{ sharedPowers }

func (n nameless) Join(ctx context.Context, owner string, ttl time.Duration) error {
	if err := n.sharedPowers.Join(ctx, owner, ttl); !errors.Is(err, harness.ErrExists) {
		return err
	}
	return nil
}

// revived lets the heart of the dead beat: of those that left, or of the others.
type revived struct {
	sharedPowers
	wantLeft bool
	left     atomic.Bool
}

func (r *revived) Leave(ctx context.Context, owner string) error {
	r.left.Store(true)
	return r.sharedPowers.Leave(ctx, owner)
}

func (r *revived) Beat(ctx context.Context, owner string) error {
	if err := r.sharedPowers.Beat(ctx, owner); owner == "never joined" || r.left.Load() != r.wantLeft {
		return err
	}
	return nil
}

// unfenced says yes to an owner that is late.
type unfenced struct{ sharedPowers }

func (u unfenced) Append(ctx context.Context, c harness.Commit) error {
	if err := u.sharedPowers.Append(ctx, c); !errors.Is(err, harness.ErrConflict) {
		return err
	}
	return nil
}

// careless releases whatever lease the owner has.
type careless struct{ sharedPowers }

func (c careless) Release(ctx context.Context, l harness.Lease) error {
	if now, err := c.sharedPowers.Claim(ctx, l.Owner, l.Session); err == nil {
		l = now
	}
	return c.sharedPowers.Release(ctx, l)
}

// sending is a store that says yes to an order when it should not.
func sending(wrongly func(harness.Order, error) bool) func(sharedPowers) harness.Store {
	return func(st sharedPowers) harness.Store { return sender{st, wrongly} }
}

type sender struct {
	sharedPowers
	wrongly func(harness.Order, error) bool
}

func (s sender) Send(ctx context.Context, o harness.Order) ([]byte, error) {
	answer, err := s.sharedPowers.Send(ctx, o)
	if s.wrongly(o, err) {
		return nil, nil
	}
	return answer, err
}

// agreeing does not refuse a certain answer.
type agreeing struct {
	sharedPowers
	to string
}

func (a agreeing) Answer(ctx context.Context, o harness.Order, answer []byte) error {
	if err := a.sharedPowers.Answer(ctx, o, answer); string(answer) != a.to {
		return err
	}
	return nil
}

// disorderly gives an order before its turn.
type disorderly struct{ sharedPowers }

func (d disorderly) Receive(ctx context.Context, owner string) iter.Seq2[harness.Order, error] {
	return func(yield func(harness.Order, error) bool) {
		for o, err := range d.sharedPowers.Receive(ctx, owner) {
			if owner == "n0" && o.Key == "k30" {
				o.Key = "k31"
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// talkative lists what was known.
type talkative struct{ sharedPowers }

func (d talkative) Place(ctx context.Context, name string, _ uint64) (harness.Place, error) {
	return d.sharedPowers.Place(ctx, name, 0)
}

// unconditional takes a delivery for any version.
type unconditional struct{ sharedPowers }

func (d unconditional) Deliver(ctx context.Context, to harness.Delivery) (uint64, error) {
	to.At = harness.AnyVersion
	return d.sharedPowers.Deliver(ctx, to)
}

// hoarding keeps what was a session's.
type hoarding struct{ sharedPowers }

func (h hoarding) Deliver(ctx context.Context, to harness.Delivery) (uint64, error) {
	for i := range to.Add {
		to.Add[i].Session = ""
	}
	return h.sharedPowers.Deliver(ctx, to)
}

// wasteful loses content when another file with it goes.
type wasteful struct {
	sharedPowers
	gone atomic.Bool
}

func (h *wasteful) Deliver(ctx context.Context, to harness.Delivery) (uint64, error) {
	if slices.Equal(to.Remove, []string{"x", "y"}) {
		h.gone.Store(true)
	}
	return h.sharedPowers.Deliver(ctx, to)
}

func (h *wasteful) Fetch(ctx context.Context, place, name string) (io.ReadSeekCloser, error) {
	if h.gone.Load() {
		return nil, harness.ErrNotFound
	}
	return h.sharedPowers.Fetch(ctx, place, name)
}

// lenient lets everybody hold everything.
type lenient struct{ sharedPowers }

func (lenient) Hold(context.Context, string) (func(), error) { return func() {}, nil }
