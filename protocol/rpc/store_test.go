package rpc_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"harness"
	"harness/store/faulty"
	"harness/store/memory"
)

// A store that cannot be read for a while delays what a client is told; it
// loses nothing.
func TestFollowerSurvivesAFailingStore(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	var failed atomic.Int32
	st := faulty.Wrap(memory.New(), func(op faulty.Op) faulty.Fault {
		if failing.Load() && op.Method == faulty.Read && failed.Add(1) < 4 {
			return faulty.Fault{Before: fmt.Errorf("read: %w", harness.ErrStorage)}
		}
		return faulty.Fault{}
	})
	sv := serveOn(t, st, "repeat 50\nsay x\ncall t => r\nend\n")
	a := sv.connect()
	id := a.thread()
	a.start(id, "go")
	a.until("turn.completed")
	b := sv.connect()
	b.sync()
	failing.Store(true)
	b.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q,"after":0}`, id))
	b.until("turn.completed")
	if failed.Load() < 4 {
		t.Errorf("the store failed %d times", failed.Load())
	}
	same(t, "told", b.notes(id), records(t, a.get(id)))
}
