package kernel_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
	"harness/store/memory"
)

// job is what the crash matrix runs: it fails once for a while, asks, is paused
// in the middle of a call, and is branched from when it is done.
const job = `say looking
call read a => one
checkpoint
retry the provider is away
ask bash b {"command":"make"} => two
tool bash c
wait 1s
result three
outcome ok
checkpoint
say done`

// drive does what people would: it answers, pauses once, resumes, and branches.
// It finds out from the session what is left to do, as after a crash one must.
func (r *rig) drive() {
	r.t.Helper()
	const once = "pause"
	for {
		st := r.until("something to do", func(st *harness.State) bool {
			_, paused := st.Keyed(once)
			return len(st.Pending) > 0 || st.Status == harness.Paused || st.Status.Terminal() || !paused && inside(st, "c")
		})
		_, paused := st.Keyed(once)
		switch {
		case len(st.Pending) > 0:
			r.do(harness.Answer{Approval: st.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow}})
		case st.Status == harness.Paused:
			r.do(harness.Resume{})
		case st.Status.Terminal():
			return
		case !paused:
			if _, err := r.k.Do(r.t.Context(), r.id, harness.Pause{ClientKey: once}); err != nil && harness.AsError(err) != harness.ErrNotRunning {
				r.t.Fatal(err)
			}
		}
	}
}

func inside(st *harness.State, call harness.CallID) bool {
	return st.Turn != nil && slices.ContainsFunc(st.Turn.Open, func(o harness.OpenCall) bool { return o.ID == call })
}

// outcome is what a job came to: its end and its last words. Each call has one
// outcome, and it is ok unless the crash came in the middle of it: nothing is
// done twice that may not be.
func (r *rig) outcome() string {
	r.t.Helper()
	calls := map[harness.CallID]string{}
	last, asked, decided, cut := "", 0, 0, 0
	for _, e := range r.log() {
		switch p := e.Payload.(type) {
		case *harness.ToolCall:
			calls[p.ToolCallID] = "open"
		case *harness.ToolOutcome:
			if calls[p.ToolCallID] != "open" {
				r.t.Errorf("call %s has another outcome", p.ToolCallID)
			}
			calls[p.ToolCallID] = p.Status + p.Reason
		case *harness.Response:
			last = p.Text
		case *harness.ApprovalRequired:
			asked++
		case *harness.ApprovalApplied:
			decided++
		}
	}
	for id, status := range calls {
		switch status {
		case "ok":
		case "errorinterrupted":
			cut++
		default:
			r.t.Errorf("call %s is %s", id, status)
		}
	}
	st := r.state()
	if cut > 1 || asked != decided || st.Turn != nil || len(st.Queue)+len(st.Pending) > 0 || st.Course.Ended.IsZero() || !st.Course.Queued.IsZero() {
		r.t.Errorf("something is left open: %d cut, %d of %d decided\n%s", cut, decided, asked, r.story())
	}
	return fmt.Sprintf("%s %q", st.Status, last)
}

// play runs the job and its branch to their ends and tells what came of them.
func (r *rig) play() string {
	r.t.Helper()
	r.drive()
	told := r.outcome()
	b := &rig{t: r.t, mem: r.mem, engine: r.engine, k: r.k, id: "ses_branch"}
	_, err := r.k.Create(r.t.Context(), harness.NewSession{
		ID: b.id, From: &harness.Branch{Session: r.id, Seq: 4}, Prompt: harness.TextPart("another way"), MaxRetries: new(3),
	})
	if err != nil && harness.AsError(err) != harness.ErrExists {
		r.t.Fatal(err)
	}
	b.drive()
	return told + "; " + b.outcome()
}

// A crash behind every commit of a background run with retries, an approval, a
// pause and a branch: afterwards everything comes to the same end, no call has
// two outcomes, and no more than one try is used up.
func TestACrashAtEveryBoundaryOfABackgroundRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opts := &kernel.Options{Window: -1}
		r := &rig{t: t, mem: memory.New()}
		var mu sync.Mutex
		var after []*memory.Store
		r.boot(faulty.Wrap(r.mem, func(op faulty.Op) faulty.Fault {
			if op.Method == faulty.Append {
				mu.Lock()
				after = append(after, r.mem.Clone())
				mu.Unlock()
			}
			return faulty.Fault{}
		}), job, opts)
		r.id = r.create(harness.NewSession{ID: "ses_job", Kind: harness.Background, User: "u", Prompt: harness.TextPart("go"), MaxRetries: new(3)})
		want := r.play()
		if want != `completed "done"; completed "done"` {
			t.Fatalf("without a crash: %s\n%s", want, r.story())
		}
		r.k.Close()
		t.Logf("%d boundaries", len(after))
		for i, st := range after {
			if i == 0 {
				continue // before there is a session
			}
			c := &rig{t: t, mem: st, id: r.id}
			c.boot(st, job, opts)
			if _, err := c.k.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := c.play(); got != want {
				t.Errorf("a crash behind commit %d of %d: %s, want %s\n%s", i, len(after), got, want, c.story())
			}
			if n := c.state().Course.Attempts; n > 3 {
				t.Errorf("a crash behind commit %d: %d attempts", i, n)
			}
			c.k.Close()
		}
	})
}
