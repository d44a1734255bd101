package storetest

import (
	"context"
	"testing"
	"time"

	"harness"
)

// Nodes is a store that several processes share, to test the powers that are
// for them: [harness.Follower], [harness.Leaser], [harness.Inbox], [harness.Depot].
type Nodes struct {
	// Open makes empty data and returns what opens it, once for each node. Every
	// store that is opened is closed with the test.
	Open func(testing.TB) (node func(testing.TB) harness.Store)
}

// Run runs one subtest for each promise, in parallel. A power that the store
// lacks is not asked for.
func (n Nodes) Run(t *testing.T) {
	for _, p := range sharedPromises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.check(t, n)
		})
	}
}

type sharedPromise struct {
	name  string
	check func(testing.TB, Nodes)
}

var sharedPromises = []sharedPromise{
	{"FollowYieldsWhatIsThereAndWhatComes", followYieldsWhatIsThereAndWhatComes},
	{"FollowOfABranchReadsThrough", followOfABranchReadsThrough},
	{"ASlowFollowerMissesNothingAndHoldsNobodyUp", aSlowFollowerMissesNothing},
	{"FollowEndsWithItsContextOrItsSession", followEndsWithItsContextOrItsSession},
	{"WhoWaitsIsToldOnceThatALogMoves", whoWaitsIsToldOnceThatALogMoves},
	{"NewsReachEveryNode", newsReachEveryNode},

	{"OfManyClaimantsOneGetsTheSession", ofManyClaimantsOneGetsTheSession},
	{"ALiveOwnerKeepsItsSessions", aLiveOwnerKeepsItsSessions},
	{"ADeadOwnersSessionsAreTakenOver", aDeadOwnersSessionsAreTakenOver},
	{"AnOwnerThatWakesUpDoesNoHarm", anOwnerThatWakesUpDoesNoHarm},
	{"LeavingOrphansEverything", leavingOrphansEverything},
	{"ReleasingAnOldLeaseChangesNothing", releasingAnOldLeaseChangesNothing},

	{"AnOrderIsAnsweredByTheOwner", anOrderIsAnsweredByTheOwner},
	{"TheSameKeyIsTheSameOrder", theSameKeyIsTheSameOrder},
	{"AnOrderWaitsForAnOwnerAndOutlivesItsSender", anOrderWaitsForAnOwner},
	{"AnUnansweredOrderGoesToTheNextOwner", anUnansweredOrderGoesToTheNextOwner},
	{"ASessionThatAnOrderWaitsForIsAnOrphan", aSessionThatAnOrderWaitsForIsAnOrphan},
	{"OrdersOfASessionKeepTheirOrder", ordersOfASessionKeepTheirOrder},

	{"WhatIsDeliveredIsFetchedAnywhere", whatIsDeliveredIsFetchedAnywhere},
	{"ADeliveryIsConditional", aDeliveryIsConditional},
	{"FilesGoWithTheirSession", filesGoWithTheirSession},
	{"TheSameContentComesAndGoes", sameContentComesAndGoes},
	{"APlaceIsHeldByOne", aPlaceIsHeldByOne},
}

// patience is how long a test waits for what must come: long beside anything
// that a store does, and no promise.
const patience = 20 * time.Second

// eventually waits until check is content; what it returns is what is missing.
func eventually(t testing.TB, check func() (missing string)) {
	t.Helper()
	end := time.NewTimer(patience)
	defer end.Stop()
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for {
		missing := check()
		if missing == "" {
			return
		}
		select {
		case <-every.C:
		case <-end.C:
			t.Fatalf("still after %v: %s", patience, missing)
		}
	}
}

// next is what comes out of a channel.
func next[T any](t testing.TB, ch <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v, open := <-ch:
		if !open {
			t.Fatalf("%s: the stream has ended", what)
		}
		return v
	case <-time.After(patience):
		t.Fatalf("%s: nothing after %v", what, patience)
	}
	return v
}

// power returns a store's power of a kind; without it the test does not apply.
func power[P any](t testing.TB, st harness.Store) P {
	t.Helper()
	p, ok := st.(P)
	if !ok {
		t.Skip("the store lacks the power")
	}
	return p
}

// during returns a context that ends with the test, before the stores close.
func during(t testing.TB) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}
