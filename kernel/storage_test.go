package kernel_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/store/faulty"
)

// slowly is a store whose appends take d.
func slowly(st harness.Store, d time.Duration) harness.Store {
	return faulty.Wrap(st, func(op faulty.Op) faulty.Fault {
		if op.Method != faulty.Append {
			return faulty.Fault{}
		}
		return faulty.Fault{Wait: func(context.Context) error { pass(d); return nil }}
	})
}

// failing makes the appends fail whose first event is of the kind given, once.
func failing(st harness.Store, kind harness.Type, f faulty.Fault) harness.Store {
	once := false
	return faulty.Wrap(st, func(op faulty.Op) faulty.Fault {
		if op.Commit == nil || op.Commit.Events[0].Type() != kind || once {
			return faulty.Fault{}
		}
		once = true
		return f
	})
}

var faults = map[string]faulty.Fault{
	"before": {Before: harness.ErrStorage},
	"after":  {After: harness.ErrStorage}, // it did happen, but nobody knows
}

// A submit whose append fails is answered with the error. If it happened
// nevertheless it is seen to, once; if not there is no trace of it. The same
// again, under its key, works either way.
func TestFailedAppendOfASubmit(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, "", nil)
				r.boot(failing(r.mem, "user_message", fault), "echo", nil)
				r.setRetries(1)
				r.refused(harness.ErrStorage, keyed("go", "k"))
				receipt := r.do(keyed("go", "k"))
				st := r.rest()
				if st.Turns != 1 || receipt.Item != st.Messages[0].ID {
					t.Errorf("%d turns, %s", st.Turns, r.story())
				}
			})
		})
	}
}

// What an engine does when the store fails under it is nobody's to see. The
// watcher is told, and who asks next gets a session that goes on.
func TestFailedAppendInTheMiddleOfATurn(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, "", nil)
				stopped := make(chan error, 1)
				r.bootWith(failing(r.mem, "tool_call", fault), &engine{func(a *attempt) error {
					if harness.PlainText(a.turn.Parts) == "again" {
						return a.say("fine")
					}
					a.say("before")
					pass(time.Second)
					a.host.Emit(a.ctx, &harness.ToolCall{ToolCallID: "c1", Name: "bash"})
					_, err := a.host.Ask(a.ctx, harness.ToolUse{Call: "c1", Tool: "bash", Access: harness.AccessExecute})
					stopped <- err
					<-a.ctx.Done()
					return a.ctx.Err()
				}}, nil)
				r.submit("go")
				var last *harness.State
				var told error
				for up, err := range r.k.Watch(t.Context(), r.id, 0) {
					if err != nil {
						told = err
						break
					}
					last = follow(last, up)
				}
				if !errors.Is(told, harness.ErrStorage) {
					t.Errorf("the watcher was told %v", told)
				}
				if err := <-stopped; err == nil {
					t.Error("the engine was answered")
				}
				shown := string(foldAgain(t, r.log()[:last.Seq]).JSON())
				if got := string(last.JSON()); got != shown {
					t.Errorf("shown\n%s\nthe log has\n%s", got, shown)
				}
				r.submit("again")
				if st := r.rest(); st.Turns != 2 || st.Status != harness.Idle {
					t.Errorf("%d turns, status %s", st.Turns, st.Status)
				}
			})
		})
	}
}

// A session that another writer has written to gives way, and goes on from
// what is there.
func TestForeignWriter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "hang", nil)
		r.submit("go")
		synctest.Wait()
		r.setRetries(0) // behind the kernel's back
		r.refused(harness.ErrConflict, harness.Configure{Patch: harness.ConfigPatch{Model: new("m")}})
		r.do(harness.Configure{Patch: harness.ConfigPatch{Model: new("m")}})
		st := r.rest()
		if st.Config.Model != "m" || st.Reason != "interrupted" {
			t.Errorf("model %q, reason %q", st.Config.Model, st.Reason)
		}
	})
}

// A store that has crashed for good answers everything with an error, at once.
func TestDeadStoreHangsNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		r.boot(faulty.Wrap(r.mem, func(op faulty.Op) faulty.Fault {
			says := func(e harness.Event) bool { return e.Type() == "token" }
			return faulty.Fault{Crash: op.Commit != nil && slices.ContainsFunc(op.Commit.Events, says)}
		}), "say x\nhang", nil)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				for _, err := range r.k.Watch(t.Context(), r.id, 0) {
					if err != nil && !errors.Is(err, harness.ErrStorage) {
						t.Errorf("watcher: %v", err)
					}
				}
			})
			wg.Go(func() {
				err := error(nil)
				for err == nil || errors.Is(err, harness.ErrQueueFull) {
					_, err = r.k.Do(t.Context(), r.id, keyed("go", ""))
					pass(time.Millisecond)
				}
				if !errors.Is(err, harness.ErrStorage) {
					t.Errorf("client: %v", err)
				}
			})
		}
		wg.Wait()
		r.refused(harness.ErrStorage, harness.Cancel{})
	})
}

// Failed snapshots cost nothing but time: the log has everything.
func TestFailedSnapshotsLoseNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		r.boot(faulty.Wrap(r.mem, func(op faulty.Op) faulty.Fault {
			if op.Method == faulty.SaveSnapshot {
				return faulty.Fault{Before: harness.ErrStorage}
			}
			return faulty.Fault{}
		}), "stream 200 20ms x", shortTail)
		r.submit("one")
		r.rest()
		pass(time.Minute)
		r.submit("two")
		st := r.rest()
		if st.Sealed != 0 || len(st.Messages) != 4 || st.Messages[3].Content.Len() != 200 {
			t.Errorf("sealed %d, %s", st.Sealed, r.conversation(st))
		}
	})
}
