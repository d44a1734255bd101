package delta_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
)

// Three hundred clients that come to an awake session together cost one read
// of its sealed messages, not three hundred.
func TestACrowdThatComesTogetherReadsTheStoreOnce(t *testing.T) {
	t.Parallel()
	const crowd = 300
	sv, store := serveBroken(t, "echo", &kernel.Options{SnapshotEvery: 4, IdleAfter: time.Hour})
	id := sv.create("")
	sv.talk(id, 10)
	eventually(t, "the room is gone", func() bool { return sv.hub.Rooms() == 0 })
	var reads atomic.Int32
	entered, gate := make(chan struct{}, 2*crowd), make(chan struct{})
	store.fail(faulty.Fault{Wait: func(context.Context) error {
		reads.Add(1)
		entered <- struct{}{}
		<-gate
		return nil
	}}, faulty.Messages)
	all := make([]*raw, crowd)
	var wg sync.WaitGroup
	join := func(from, to int) {
		for i := from; i < to; i++ {
			wg.Go(func() { all[i] = sv.raw("?sessionId="+id, 0) })
		}
	}
	join(0, 1)
	select {
	case <-entered:
	case <-time.After(patience):
		t.Fatal("nobody reads")
	}
	join(1, crowd)
	eventually(t, "all are in the room", func() bool { return sv.hub.Watchers() == crowd })
	close(gate)
	wg.Wait()
	want := string(all[0].text())
	for _, r := range all[1:] {
		if got := string(r.text()); got != want {
			t.Fatalf("clients were shown different states: %s", around(got, want))
		}
	}
	if n := reads.Load(); n > 3 {
		t.Errorf("%d reads of the sealed messages for %d clients", n, crowd)
	}
}

// A session that falls asleep does not park those for whom somebody still
// reads.
func TestWhoIsReadForIsNotParked(t *testing.T) {
	t.Parallel()
	sv, store := serveBroken(t, "when wait\ngate go\nelse\necho\nend\n", &kernel.Options{SnapshotEvery: 4, IdleAfter: time.Millisecond})
	id := sv.create("")
	sv.talk(id, 10)
	sv.asleep() // so that the store has the messages
	here := sv.connect("?sessionId=" + id)
	here.do(`{"type":"submit","prompt":"wait"}`)
	here.until("it waits", func(s state) bool { return s.Status == "running" })
	entered, gate := make(chan struct{}, 8), make(chan struct{})
	store.fail(faulty.Fault{Wait: func(context.Context) error {
		entered <- struct{}{}
		<-gate
		return nil
	}}, faulty.Messages)
	late := sv.dial("?window=64&sessionId=" + id)
	select {
	case <-entered:
	case <-time.After(patience):
		t.Fatal("nobody reads")
	}
	sv.engine.Open("go")
	here.until("the turn ends", func(s state) bool { return s.Status == "idle" })
	eventually(t, "the session sleeps", func() bool { return sv.k.Awake() == 0 })
	parked := time.Now().Add(50 * time.Millisecond)
	eventually(t, "the feed had time to end", func() bool {
		feeds, _ := sv.hub.Feeds()
		return feeds == 0 || time.Now().After(parked)
	})
	close(gate)
	late.settle(sv)
	sv.asleep()
}

// Who needs another view while somebody reads for the first is not forgotten,
// not even if that read fails.
func TestAFailedReadIsNotTheNextOnesFault(t *testing.T) {
	t.Parallel()
	sv, store := serveBroken(t, "echo", &kernel.Options{SnapshotEvery: 4, IdleAfter: time.Hour})
	id := sv.create("")
	sv.talk(id, 40)
	sv.sealed(id)
	eventually(t, "the room is gone", func() bool { return sv.hub.Rooms() == 0 })
	var reads atomic.Int32
	entered, gate := make(chan struct{}, 8), make(chan struct{})
	store.fail(faulty.Fault{Wait: func(context.Context) error {
		if reads.Add(1) > 1 {
			return nil
		}
		entered <- struct{}{}
		<-gate
		return harness.ErrStorage
	}}, faulty.Messages)
	first := sv.dial("?sessionId=" + id)
	select {
	case <-entered:
	case <-time.After(patience):
		t.Fatal("nobody reads")
	}
	second := sv.dial("?window=64&sessionId=" + id)
	eventually(t, "both are in the room", func() bool { return sv.hub.Watchers() == 2 })
	close(gate)
	if code := first.closeCode(); code != 1011 {
		t.Errorf("closed with %d", code)
	}
	second.settle(sv)
}
