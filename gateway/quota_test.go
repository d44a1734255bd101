package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/gateway"
)

// TestTheQuotaOfConnectionsIsExact: as many as there may be, not one more;
// another user has its own, an admin has none, and what is closed makes room.
func TestTheQuotaOfConnectionsIsExact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		hold  func(context.Context) (func(), error)
		limit int
	}{
		"WebSockets": {w.g.HoldSocket, gateway.MaxWebSockets},
		"streams":    {w.g.HoldStream, gateway.MaxStreams},
		"lines":      {w.g.HoldLine, gateway.MaxLines},
	} {
		t.Run(name, func(t *testing.T) {
			alice := as(t, "alice", harness.Viewer)
			phone := harness.WithCaller(t.Context(), harness.Caller{Name: "phone", User: "alice", Role: harness.Approver})
			var held []func()
			for i := range c.limit {
				release, err := c.hold(map[bool]context.Context{true: alice, false: phone}[i%2 == 0])
				if err != nil {
					t.Fatalf("the %d.: %v", i+1, err)
				}
				held = append(held, release)
			}
			for _, ctx := range []context.Context{alice, phone} {
				if _, err := c.hold(ctx); harness.AsError(err) != harness.ErrTooMany {
					t.Errorf("one more: %v", err)
				}
			}
			if _, err := c.hold(as(t, "bob", harness.Viewer)); err != nil {
				t.Errorf("bob's first: %v", err)
			}
			for range c.limit + 1 {
				if _, err := c.hold(as(t, "alice", harness.Admin)); err != nil {
					t.Fatalf("an admin's: %v", err)
				}
			}
			held[7]()
			held[7]() // once is enough
			if _, err := c.hold(alice); err != nil {
				t.Errorf("after one was closed: %v", err)
			}
			if _, err := c.hold(alice); harness.AsError(err) != harness.ErrTooMany {
				t.Errorf("one more again: %v", err)
			}
			if _, err := c.hold(t.Context()); harness.AsError(err) != harness.ErrUnauthenticated {
				t.Errorf("nobody's: %v", err)
			}
		})
	}
}

// TestTheQuotaOfSessionsIsExact: those that were there before count, those that
// are removed do not, and what fails takes no room.
func TestTheQuotaOfSessionsIsExact(t *testing.T) {
	t.Parallel()
	const limit = 20
	w := newWorld(t, gateway.Quotas{Sessions: limit})
	alice := as(t, "alice", harness.Operator)
	for range 5 {
		w.create("alice") // before anybody asked
	}
	first, err := w.g.Create(alice, harness.NewSession{ID: "first"})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 { // it is there already
		if _, err := w.g.Create(alice, harness.NewSession{ID: first}); harness.AsError(err) != harness.ErrExists {
			t.Fatal(err)
		}
	}
	for i := 6; i < limit; i++ {
		n := harness.NewSession{}
		if i == limit-1 {
			n.From = &harness.Branch{Session: first, Seq: 1}
		}
		if _, err := w.g.Create(alice, n); err != nil {
			t.Fatalf("the %d.: %v", i+1, err)
		}
	}
	full := func() {
		t.Helper()
		for _, n := range []harness.NewSession{{}, {ID: "another"}, {From: &harness.Branch{Session: first, Seq: 1}}} {
			if _, err := w.g.Create(alice, n); harness.AsError(err) != harness.ErrQuota {
				t.Errorf("one more: %v", err)
			}
		}
	}
	full()
	if _, err := w.g.Create(alice, harness.NewSession{ID: first}); harness.AsError(err) != harness.ErrExists {
		t.Errorf("one that is there is not one more: %v", err)
	}
	if _, err := w.g.Create(as(t, "bob", harness.Operator), harness.NewSession{}); err != nil {
		t.Errorf("bob's first: %v", err)
	}
	if err := w.g.Remove(alice, first); err == nil {
		t.Error("it has a branch")
	}
	full()
	root := as(t, "", harness.Admin)
	hers, err := w.g.Create(root, harness.NewSession{User: "alice"})
	if err != nil {
		t.Errorf("an admin's for alice: %v", err)
	}
	if err := w.g.Remove(root, hers); err != nil {
		t.Fatal(err)
	}
	free := 0
	for sum, err := range w.g.List(alice, harness.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if sum.Session != first && free == 0 && w.g.Remove(alice, sum.Session) == nil {
			free++
		}
	}
	if _, err := w.g.Create(alice, harness.NewSession{}); err != nil || free != 1 {
		t.Errorf("after %d was removed: %v", free, err)
	}
	full()
	if audits := w.drained(); !hasRefusal(audits, gateway.Create, harness.ErrQuota) {
		t.Errorf("the audit has %v", audits)
	}
}

func hasRefusal(all []gateway.Record, a gateway.Action, e *harness.Error) bool {
	for _, r := range all {
		if r.Action == a && errors.Is(r.Err, e) {
			return true
		}
	}
	return false
}

// TestNobodySlipsThroughTogether: many at once get exactly the room there is.
func TestNobodySlipsThroughTogether(t *testing.T) {
	t.Parallel()
	const limit = 50
	w := newWorld(t, gateway.Quotas{Sessions: limit})
	var made, refused atomic.Int64
	var all sync.WaitGroup
	for range 4 * limit {
		all.Go(func() {
			switch _, err := w.g.Create(as(t, "alice", harness.Operator), harness.NewSession{}); harness.AsError(err) {
			case harness.ErrQuota:
				refused.Add(1)
			default:
				if err != nil {
					t.Error(err)
				}
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != limit || refused.Load() != 3*limit {
		t.Errorf("%d were made and %d refused", made.Load(), refused.Load())
	}
}

// TestSessionsThatGoByOtherWaysMakeRoom, soon.
func TestSessionsThatGoByOtherWaysMakeRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, gateway.Quotas{Sessions: 2})
		alice := as(t, "alice", harness.Operator)
		id, err := w.g.Create(alice, harness.NewSession{})
		if err != nil {
			t.Fatal(err)
		}
		other := w.create("alice") // the census does not know it yet
		if _, err := w.g.Create(alice, harness.NewSession{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		if _, err := w.g.Create(alice, harness.NewSession{}); harness.AsError(err) != harness.ErrQuota {
			t.Errorf("with three: %v", err)
		}
		for _, id := range []harness.SessionID{id, other} {
			if err := w.k.Remove(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(2 * time.Second)
		if _, err := w.g.Create(alice, harness.NewSession{}); err != nil {
			t.Errorf("with one: %v", err)
		}
	})
}

// TestThePaceOfCommandsIsExact: as many at once as there may be, then one for
// each step of time, for every way to change something; looking is not counted.
func TestThePaceOfCommandsIsExact(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const burst, every = 40, 50 * time.Millisecond
		w := newWorld(t, gateway.Quotas{CommandBurst: burst, CommandEvery: every})
		id, bobs := w.create("alice"), w.create("bob")
		alice, bob := as(t, "alice", harness.Approver), as(t, "bob", harness.Operator)
		pause := func(ctx context.Context, id harness.SessionID) error {
			_, err := w.g.Do(ctx, id, harness.Cancel{})
			if harness.AsError(err) == harness.ErrNotRunning {
				err = nil
			}
			return err
		}
		for i := range burst {
			if err := pause(alice, id); err != nil {
				t.Fatalf("the %d.: %v", i+1, err)
			}
		}
		w.drained()
		for name, deed := range map[string]func() error{
			"command": func() error { return pause(alice, id) },
			"create":  func() error { _, err := w.g.Create(alice, harness.NewSession{}); return err },
			"remove":  func() error { return w.g.Remove(alice, id) },
			"revoke":  func() error { return w.g.Revoke(alice, "rul_1") },
		} {
			if err := deed(); harness.AsError(err) != harness.ErrTooMany {
				t.Errorf("%s: %v", name, err)
			}
		}
		if audits := w.drained(); len(audits) != 4 || !errors.Is(audits[0].Err, harness.ErrTooMany) { // one for each
			t.Errorf("the audit has %v", audits)
		}
		if _, err := w.g.At(alice, id, 0); err != nil {
			t.Errorf("looking: %v", err)
		}
		if err := pause(bob, bobs); err != nil {
			t.Errorf("bob: %v", err)
		}
		if err := pause(as(t, "", harness.Admin), id); err != nil {
			t.Errorf("an admin: %v", err)
		}
		<-time.After(every)
		if err := pause(alice, id); err != nil {
			t.Errorf("a step later: %v", err)
		}
		if err := pause(alice, id); harness.AsError(err) != harness.ErrTooMany {
			t.Errorf("one more: %v", err)
		}
		<-time.After(burst * every)
		for i := range burst {
			if err := pause(alice, id); err != nil {
				t.Fatalf("after a rest, the %d.: %v", i+1, err)
			}
		}
		if err := pause(alice, id); harness.AsError(err) != harness.ErrTooMany {
			t.Errorf("one more: %v", err)
		}
	})
}

// TestTheCensusIsBounded: users come and go, and what is known of them too.
func TestTheCensusIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range gateway.MaxCounts + 500 {
		if _, err := w.g.Create(as(t, fmt.Sprintf("user%d", i), harness.Operator), harness.NewSession{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.g.Counted(); n > gateway.MaxCounts {
		t.Errorf("%d users are counted", n)
	}
}

// TestWhatAUserStoresIsBounded: who has stored as much as one may starts nothing
// and makes nothing, others do not notice, and what is removed makes room.
func TestWhatAUserStoresIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, gateway.Quotas{Stored: 100 << 10})
		alice, bob := as(t, "alice", harness.Operator), as(t, "bob", harness.Operator)
		mine, theirs := w.create("alice"), w.create("bob")
		say := func(ctx context.Context, id harness.SessionID, bytes int) error {
			_, err := w.g.Do(ctx, id, harness.Submit{Parts: harness.TextPart(strings.Repeat("x", bytes)), Source: harness.FromSubmit, OnBusy: harness.Enqueue})
			return err
		}
		if err := say(alice, mine, 120<<10); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute) // sleep: of the bubble's clock
		w.drained()
		if err := say(alice, mine, 1); !errors.Is(err, harness.ErrQuota) {
			t.Errorf("alice says more: %v", err)
		}
		if _, err := w.g.Create(alice, harness.NewSession{}); !errors.Is(err, harness.ErrQuota) {
			t.Errorf("alice makes another: %v", err)
		}
		if _, err := w.g.Do(alice, mine, harness.Cancel{}); err != nil {
			t.Errorf("alice stops it: %v", err)
		}
		if lines := w.drained(); len(lines) != 2 || !errors.Is(lines[0].Err, harness.ErrQuota) || !errors.Is(lines[1].Err, harness.ErrQuota) {
			t.Errorf("audited %+v", lines)
		}
		if err := say(bob, theirs, 1); err != nil {
			t.Errorf("bob: %v", err)
		}
		if err := say(as(t, "alice", harness.Admin), mine, 1); err != nil {
			t.Errorf("an admin: %v", err)
		}
		for w.g.Remove(alice, mine) != nil { // it asks, and is busy until it has stopped
			_, _ = w.g.Do(alice, mine, harness.Cancel{})
			time.Sleep(10 * time.Second) // sleep: of the bubble's clock
		}
		time.Sleep(2 * time.Second) // sleep: of the bubble's clock
		if _, err := w.g.Create(alice, harness.NewSession{}); err != nil {
			t.Errorf("alice, after removing: %v", err)
		}
	})
}
