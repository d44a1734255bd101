package remote

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"harness"
	"harness/protocol/runner"
)

// maxTasks is how many tasks a run may have under way, as a runner of ours has it.
const maxTasks = 64

// maxAnswer is how much of a task's answer the run hears: more than any model
// says, and less than a runner takes at once.
const maxAnswer = 4 << 20

// errLost is what a run is told of a task that a restart came between: it is
// never begun again.
var errLost = errors.New("the server was restarted; the task may or may not have been begun")

// tasks are those under way, and how each is stopped.
type tasks struct {
	mu  sync.Mutex // guards all
	all map[string]context.CancelCauseFunc
}

// begin takes note of a task; it reports whether there may be another.
func (t *tasks) begin(id string, stop context.CancelCauseFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[id] != nil || len(t.all) >= maxTasks {
		return false
	}
	if t.all == nil {
		t.all = make(map[string]context.CancelCauseFunc)
	}
	t.all[id] = stop
	return true
}

// end forgets a task, and stops it.
func (t *tasks) end(id string, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stop := t.all[id]; stop != nil {
		stop(why)
		delete(t.all, id)
	}
}

// task has a session do what the run hands on, or stops it when nobody waits for
// it any more.
func (f *follower) task(frame *runner.Frame) error {
	if frame.Task == nil || !name(frame.Task.TaskID, harness.MaxID) {
		return f.order.fault("a task without an id")
	}
	t := *frame.Task
	if frame.Type == runner.TaskDropped {
		f.tasks.end(t.TaskID, harness.ErrNotRunning)
		return nil
	}
	spawner, ok := f.host.(harness.Spawner)
	if !ok || !f.at.alone {
		return f.order.fault("nobody does tasks for it")
	}
	do := func(ctx context.Context) (string, error) {
		return spawner.Spawn(ctx, newSession(t), t.Prompt, func(id harness.SessionID) { f.report(t.TaskID, runner.TaskReport{SessionID: id}) })
	}
	if frame.ID <= f.replay { // from before a restart
		i := slices.IndexFunc(f.handed, func(h runner.Handed) bool { return h.TaskID == t.TaskID && h.Frame == frame.ID })
		if i < 0 {
			return nil // nobody waits for it
		}
		child := f.handed[i].SessionID
		do = func(ctx context.Context) (string, error) {
			if child == "" {
				return "", errLost
			}
			return spawner.Join(ctx, child)
		}
	}
	return f.hand(t.TaskID, do)
}

// hand does a task and tells the run what came of it, unless it was told to stop.
func (f *follower) hand(id string, do func(ctx context.Context) (string, error)) error {
	ctx, cancel := context.WithCancelCause(f.turned)
	if !f.tasks.begin(id, cancel) {
		cancel(nil)
		return f.order.fault("task %q is under way, or %d others are", id, maxTasks)
	}
	f.wg.Go(func() {
		defer f.tasks.end(id, nil)
		defer context.AfterFunc(f.wire, func() { cancel(errLeft) })()
		answer, err := do(ctx)
		if ctx.Err() != nil {
			return
		}
		t := runner.TaskReport{Done: true, Answer: strings.ToValidUTF8(answer[:min(len(answer), maxAnswer)], "")}
		if err != nil {
			t.Error = runner.ProblemOf(err)
			t.Error.Message = message(t.Error.Message)
		}
		f.report(id, t)
	})
	return nil
}

// newSession is the session that does a task. Its mode, its engine and where it
// works are the parent's.
func newSession(t runner.Task) harness.NewSession {
	n := harness.NewSession{Title: t.Title}
	if t.Model != "" {
		n.Config.Model = &t.Model
	}
	if t.Effort != "" {
		n.Config.Effort = &t.Effort
	}
	if t.Agent != "" {
		n.Config.Agent = &t.Agent
	}
	if t.MaxTurns > 0 {
		n.Config.MaxTurns = &t.MaxTurns
	}
	return n
}

// report tells the run of a task until it has heard it, or knows better.
func (f *follower) report(id string, t runner.TaskReport) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := f.at.client.Report(f.wire, f.order.run, id, t)
		if _, refused := errors.AsType[*runner.StatusError](err); err == nil || refused || wait(f.wire, pause) != nil {
			return
		}
	}
}
