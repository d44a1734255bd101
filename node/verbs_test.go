package node_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"harness"
)

// TestAnyNodeServesAnySession starts a turn on one node, watches it on another
// and decides on a third.
func TestAnyNodeServesAnySession(t *testing.T) {
	t.Parallel()
	n := cluster(t, 3, setting{script: "stream 50 1ms word\nask bash {\"command\":\"x\"} => ran\nsay done"})
	a, b, c := n[0], n[1], n[2]
	id := b.create(harness.NewSession{})
	there := b.watch(id, 1)
	a.do(id, submit("go"))
	there.until("a question", has[*harness.ApprovalRequired](1))
	st, err := c.At(t.Context(), id, 0)
	if err != nil || len(st.Pending) != 1 {
		t.Fatalf("the state on c: %+v, %v", st, err)
	}
	c.do(id, harness.Answer{Approval: st.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow, Actor: "carol"}})
	there.until("the end", has[*harness.TurnEnd](1))
	there.dense(1)
	events := a.log(id)
	for _, e := range events {
		if p, ok := e.Payload.(*harness.ApprovalApplied); ok && (p.Actor != "carol" || p.Decision != harness.Allow) {
			t.Errorf("decided as %+v", p)
		}
	}
	if count[*harness.ApprovalApplied](events) != 1 || count[*harness.TurnEnd](events) != 1 {
		t.Errorf("the log is\n%s", tell(events))
	}
	there.mu.Lock()
	defer there.mu.Unlock()
	if there.states > 0 {
		t.Errorf("a watcher with a cursor was given %d states", there.states)
	}
}

// TestEveryCommandReachesTheOwner sends each kind from a node that does not have
// the session.
func TestEveryCommandReachesTheOwner(t *testing.T) {
	t.Parallel()
	n := cluster(t, 2, setting{script: "when long\nsay begun\nsteer\nhang\nelse\necho\nend"})
	a, b := n[0], n[1]
	id := a.create(harness.NewSession{})
	here := a.watch(id, 1)
	first := a.do(id, submit("long"))
	here.until("the turn", has[*harness.Token](1))
	key := harness.Submit{Parts: harness.TextPart("queued"), OnBusy: harness.Enqueue, ClientKey: "k1"}
	r := b.do(id, key)
	if again := b.do(id, key); again != r || r.Item == "" {
		t.Errorf("the same key again: %+v, want %+v", again, r)
	}
	if again := a.do(id, key); again != r {
		t.Errorf("the same key on the owner: %+v, want %+v", again, r)
	}
	title := "told by b"
	b.do(id, harness.Configure{Title: &title, Actor: "bob"})
	b.do(id, harness.Steer{Parts: harness.TextPart("listen"), Actor: "bob"})
	here.until("the word", has[*harness.Token](2))
	b.do(id, harness.Pause{})
	for want, cmd := range map[*harness.Error]harness.Command{
		harness.ErrBusy:         harness.Submit{Parts: harness.TextPart("now")},
		harness.ErrNoApproval:   harness.Answer{Approval: "apr_none", Decision: harness.Decision{Verdict: harness.Allow}},
		harness.ErrTurnNotFound: harness.Cancel{Turn: "trn_none"},
		harness.ErrUnsupported:  harness.Rewind{Message: first.Item},
	} {
		if _, err := b.Do(t.Context(), id, cmd); !errors.Is(err, want) {
			t.Errorf("%T on another node: %v, want %v", cmd, err, want)
		}
	}
	if got := b.do(id, harness.Cancel{Turn: first.Turn}); got.Turn != first.Turn {
		t.Errorf("cancel answers %+v", got)
	}
	here.until("the end of the first", has[*harness.TurnEnd](1))
	b.do(id, harness.Resume{})
	here.until("the end of the second", has[*harness.TurnEnd](2))
	here.dense(1)
	st, err := b.At(t.Context(), id, 0)
	if err != nil || st.Title != title {
		t.Errorf("the title is %q, %v", st.Title, err)
	}
	if n := count[*harness.UserMessage](a.log(id)); n != 3 {
		t.Errorf("%d messages, want 3", n)
	}
}

// TestASessionThatSleepsIsAnybodys lets one node after the other speak to a
// session, which costs no lease between.
func TestASessionThatSleepsIsAnybodys(t *testing.T) {
	t.Parallel()
	n := cluster(t, 3, setting{})
	id := n[0].create(harness.NewSession{})
	watchers := []*watching{n[0].watch(id, 1), n[1].watch(id, 1), n[2].watch(id, 1)}
	for i := range 6 {
		n[i%3].do(id, submit(fmt.Sprint("hello ", i)))
		for _, w := range watchers {
			w.until("the end of a turn", has[*harness.TurnEnd](i+1))
		}
		awaken(t, n[i%3], 0)
	}
	for _, w := range watchers {
		w.dense(1)
	}
	for l, err := range n[0].store.Orphans(t.Context()) {
		t.Errorf("left behind: %+v, %v", l, err)
	}
}

// awaken waits until a node has so many sessions awake.
func awaken(t *testing.T, m *member, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for every := time.NewTicker(time.Millisecond); m.Awake() != want; {
		select {
		case <-every.C:
		case <-ctx.Done():
			t.Fatalf("%d sessions are awake, want %d", m.Awake(), want)
		}
	}
}

// TestAWatcherComesBeforeItsSession watches an id on one node that is made on
// another.
func TestAWatcherComesBeforeItsSession(t *testing.T) {
	t.Parallel()
	n := cluster(t, 2, setting{})
	told := make(chan struct{}, 16)
	n[1].OnWake(func(harness.SessionID) { told <- struct{}{} })
	defer n[1].Attend("ses_later")()
	for _, err := range n[1].WatchAwake(t.Context(), "ses_later", 0) {
		if !errors.Is(err, harness.ErrNotFound) {
			t.Fatal(err)
		}
	}
	n[0].create(harness.NewSession{ID: "ses_later"})
	select {
	case <-told:
	case <-time.After(patience):
		t.Fatal("nobody says that the session is there")
	}
}

// TestASessionIsRemovedWhereverItIs removes one that another node has awake.
func TestASessionIsRemovedWhereverItIs(t *testing.T) {
	t.Parallel()
	n := cluster(t, 2, setting{script: "when long\nhang\nelse\necho\nend", opts: quiet(time.Hour)})
	id, busy := n[0].create(harness.NewSession{}), n[0].create(harness.NewSession{})
	n[0].do(id, submit("hello"))
	n[0].eventually(id, "the end", has[*harness.TurnEnd](1))
	n[0].do(busy, submit("long"))
	if err := n[1].Remove(t.Context(), busy); !errors.Is(err, harness.ErrBusy) {
		t.Errorf("a busy session: %v", err)
	}
	if err := n[1].Remove(t.Context(), id); err != nil {
		t.Errorf("remove: %v", err)
	}
	if _, err := n[0].Do(t.Context(), id, submit("again")); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("a command to a session that is gone: %v", err)
	}
}
