package delta_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"harness"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/faulty"
	"harness/store/memory"
)

// broken is a store whose calls of some methods fail while a test says so.
type broken struct {
	mu     sync.Mutex // guards faults
	faults map[faulty.Method]faulty.Fault
	only   atomic.Pointer[string] // the session that suffers; nil: all
}

func (b *broken) plan(op faulty.Op) faulty.Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id := b.only.Load(); id != nil && *id != string(op.Session) {
		return faulty.Fault{}
	}
	return b.faults[op.Method]
}

func (b *broken) fail(f faulty.Fault, methods ...faulty.Method) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = map[faulty.Method]faulty.Fault{}
	for _, m := range methods {
		b.faults[m] = f
	}
}

func (b *broken) heal() { b.fail(faulty.Fault{}) }

func serveBroken(t testing.TB, src string, opts *kernel.Options) (*server, *broken) {
	b := new(broken)
	sv := serveOn(t, faulty.Wrap(memory.New(), b.plan), src, opts, &delta.Options{Retry: 5 * time.Millisecond})
	t.Cleanup(b.heal) // before the server closes
	return sv, b
}

var failure = faulty.Fault{Before: harness.ErrStorage}

func TestAFailedAppendIsToldAndTheClientStays(t *testing.T) {
	t.Parallel()
	sv, store := serveBroken(t, "echo", &kernel.Options{IdleAfter: 20 * time.Millisecond})
	a, b := sv.connect("?userId=u"), sv.connect("?userId=u")
	submit := func(n int) { a.do(fmt.Sprintf(`{"type":"submit","prompt":"hi","commandId":"%d"}`, n)) }
	for n := range 6 {
		if n == 3 {
			sv.asleep()
		}
		store.fail(failure, faulty.Append)
		submit(n)
		if e := a.untilError(); e.Code != "storage" || e.CommandID != fmt.Sprint(n) {
			t.Fatalf("error %+v", e)
		}
		store.heal()
		submit(n)
		for _, c := range []*client{a, b} {
			c.until("the turn ends", func(s state) bool { return idle(s) && len(s.Messages) == 2*(n+1) })
			c.settle(sv)
		}
		a.untilAck(fmt.Sprint(n))
	}
	if len(b.errs) > 0 {
		t.Errorf("the other client was told %v", b.errs)
	}
}

func TestAStoreThatFailsInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	for _, m := range []faulty.Fault{failure, {After: harness.ErrStorage}} {
		sv, store := serveBroken(t, "say one\ngate fail\nsay two\ncall t => r\nsay three\n", &kernel.Options{IdleAfter: 20 * time.Millisecond, Window: -1})
		a, b, w := sv.connect("?userId=u"), sv.connect("?userId=u"), sv.connect("?userId=u&window=64")
		a.do(`{"type":"submit","prompt":"hi"}`)
		a.until("it says one", func(s state) bool { return s.last().Content == "one" })
		store.fail(m, faulty.Append)
		sv.engine.Open("fail")
		eventually(t, "the session died", func() bool { return sv.k.Awake() == 0 })
		late := sv.connect("?userId=u")
		store.heal()
		for _, c := range []*client{a, b, w, late} {
			c.until("somebody saw to the turn", func(s state) bool { return s.Status != "running" })
		}
		a.do(`{"type":"submit","prompt":"again","commandId":"k"}`)
		a.untilAck("k")
		for _, c := range []*client{a, b, w, late} {
			c.until("the next turn ends", func(s state) bool { return idle(s) && s.Messages[len(s.Messages)-2].Content == "again" })
			c.settle(sv)
			if len(c.errs) > 0 {
				t.Errorf("errors %v", c.errs)
			}
		}
	}
}

// closeCode reads until the connection ends.
func (c *client) closeCode() websocket.StatusCode {
	c.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := c.readErr(ctx)
		cancel()
		if err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

func TestACorruptSessionIsSaidSoAndHurtsNoOther(t *testing.T) {
	t.Parallel()
	sv, store := serveBroken(t, "echo", nil)
	bad, good := sv.create(""), sv.create("")
	sv.talk(bad, 2)
	sv.asleep()
	other := sv.connect("?sessionId=" + good)
	here := sv.connect("?sessionId=" + bad)
	sv.asleep()
	store.only.Store(&bad)
	store.fail(faulty.Fault{Before: fmt.Errorf("page 7: %w", harness.ErrCorrupt)}, faulty.Read, faulty.LoadSnapshot)
	for _, query := range []string{"", "&window=64", "&since=4"} {
		c := sv.dial("?sessionId=" + bad + query)
		if code := c.closeCode(); code != 1011 || len(c.errs) != 1 || c.errs[0].Code != "corrupt" || c.errs[0].Message != harness.ErrCorrupt.Text {
			t.Errorf("%q: closed with %d, errors %v", query, code, c.errs)
		}
	}
	if code := here.closeCode(); code != 1011 {
		t.Errorf("who was there: closed with %d, errors %v", code, here.errs)
	}
	other.do(`{"type":"submit","prompt":"hi"}`)
	other.until("the turn ends", idle)
	other.settle(sv)
	eventually(t, "the corrupt session's room is gone", func() bool { return sv.hub.Rooms() == 1 })
	store.heal()
	sv.connect("?sessionId=" + bad).settle(sv)
}

// Old messages that cannot be read are missed by who comes, not by who is
// there.
func TestMessagesThatCannotBeReadHurtOnlyWhoNeedsThem(t *testing.T) {
	t.Parallel()
	sv, store := serveBroken(t, "echo", &kernel.Options{SnapshotEvery: 4, IdleAfter: time.Hour})
	id := sv.create("")
	sv.talk(id, 10)
	sv.sealed(id)
	eventually(t, "the room is gone", func() bool { return sv.hub.Rooms() == 0 })
	here := sv.connect("?sessionId=" + id)
	store.fail(failure, faulty.Messages)
	for range 3 {
		here.do(`{"type":"submit","prompt":"more"}`)
		want := len(here.state().Messages) + 2
		here.until("the turn ends", func(s state) bool { return idle(s) && len(s.Messages) == want })
	}
	late := sv.dial("?sessionId=" + id + "&window=512")
	if code := late.closeCode(); code != 1011 || len(late.errs) != 1 || late.errs[0].Code != "storage" {
		t.Errorf("closed with %d, errors %v, frames %v", code, late.errs, late.kinds)
	}
	here.do(`{"type":"submit","prompt":"still here"}`)
	here.until("the turn ends", func(s state) bool { return idle(s) && s.last().Content == "still here" })
	if slices.Contains(here.kinds[1:], "state") || len(here.errs) > 0 {
		t.Errorf("frames %v, errors %v", here.kinds, here.errs)
	}
	store.heal()
	here.settle(sv)
	sv.connect("?window=512&sessionId=" + id).settle(sv)
}

func TestAHandshakeThatTheStoreFailsIsNobodysFault(t *testing.T) {
	t.Parallel()
	sv, store := serveBroken(t, "echo", nil)
	id := sv.create("")
	store.fail(failure, faulty.List)
	if got := sv.status("?sessionId=" + id); got != 503 {
		t.Errorf("status %d, want 503", got)
	}
	store.heal()
	sv.connect("?sessionId=" + id)
}

func TestShutdownDoesNotWaitForAStoreThatHangs(t *testing.T) {
	t.Parallel()
	sv, store := serveBroken(t, "echo", nil)
	id := sv.create("")
	c := sv.connect("?sessionId=" + id)
	entered, release := make(chan struct{}, 8), make(chan struct{})
	store.fail(faulty.Fault{Wait: func(context.Context) error {
		entered <- struct{}{}
		<-release
		return harness.ErrStorage
	}}, faulty.Append)
	c.do(`{"type":"submit","prompt":"hi"}`)
	select {
	case <-entered:
	case <-time.After(patience):
		t.Fatal("the command did not reach the store")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { ended <- sv.shutdown(ctx) })
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
	case <-time.After(patience):
		t.Error("Shutdown waits for the store")
	}
	close(release)
	wg.Wait()
}
