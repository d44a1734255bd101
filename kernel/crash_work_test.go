package kernel_test

import (
	"fmt"
	"os"
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
	if cut > 2 || asked != decided || st.Turn != nil || len(st.Queue)+len(st.Pending) > 0 || st.Course.Ended.IsZero() || !st.Course.Queued.IsZero() {
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

// recorded is a rig on st that keeps what a crash behind each of its commits
// would leave.
func recorded(t testing.TB, st *memory.Store) (r *rig, left func() []*memory.Store) {
	r = &rig{t: t, mem: st, id: "ses_job"}
	var mu sync.Mutex
	var after []*memory.Store
	r.boot(faulty.Wrap(st, func(op faulty.Op) faulty.Fault {
		if op.Method == faulty.Append {
			mu.Lock()
			after = append(after, st.Clone())
			mu.Unlock()
		}
		return faulty.Fault{}
	}), job, &kernel.Options{Window: -1})
	return r, func() []*memory.Store {
		mu.Lock()
		defer mu.Unlock()
		return after
	}
}

// A crash behind every commit of a background run with retries, an approval, a
// pause and a branch: afterwards everything comes to the same end, no call has
// two outcomes, and no more than one try is used up. With LONG=1, a second crash
// behind every commit of what follows the first.
func TestACrashAtEveryBoundaryOfABackgroundRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, left := recorded(t, memory.New())
		r.create(harness.NewSession{ID: r.id, Kind: harness.Background, User: "u", Prompt: harness.TextPart("go"), MaxRetries: new(3)})
		const want = `completed "done"; completed "done"`
		if got := r.play(); got != want {
			t.Fatalf("without a crash: %s\n%s", got, r.story())
		}
		r.k.Close()
		runs := 0
		var crash func(st *memory.Store, crashes, depth int)
		crash = func(st *memory.Store, crashes, depth int) {
			runs++
			c, left := recorded(t, st)
			if _, err := c.k.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := c.play(); got != want || c.state().Course.Attempts > 2+crashes {
				t.Fatalf("after %d crashes: %s, %d attempts\n%s", crashes, got, c.state().Course.Attempts, c.story())
			}
			c.k.Close()
			if depth > 0 {
				for _, st := range left() {
					crash(st, crashes+1, depth-1)
				}
			}
		}
		depth := 0
		if os.Getenv("LONG") != "" {
			depth = 1
		}
		for _, st := range left()[1:] { // the first is before there is a session
			crash(st, 1, depth)
		}
		t.Logf("%d runs after a crash", runs)
	})
}
