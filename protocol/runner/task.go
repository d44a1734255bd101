package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"harness"
)

// Task is work that a run hands on: whoever follows the run has a session of its
// own do it. What that session may do is not the run's to say.
type Task struct {
	TaskID   string         `json:"taskId"`
	Title    string         `json:"title,omitempty"`
	Prompt   string         `json:"prompt"`
	Model    string         `json:"model,omitempty"`
	Effort   harness.Effort `json:"effort,omitempty"`
	Agent    string         `json:"agent,omitempty"`
	MaxTurns int            `json:"maxTurns,omitempty"`
}

// TaskReport tells a run of a task: first which session does it, then what came
// of it.
type TaskReport struct {
	SessionID harness.SessionID `json:"sessionId,omitempty"`
	Done      bool              `json:"done,omitempty"`
	Answer    string            `json:"answer,omitempty"`
	Error     *Problem          `json:"error,omitempty"`
}

// Handed is a task that a run waits for.
type Handed struct {
	TaskID    string            `json:"taskId"`
	Frame     uint64            `json:"frame"` // where it was asked for
	SessionID harness.SessionID `json:"sessionId,omitempty"`
}

// maxTasks is how many tasks a run may wait for at a time: more than its
// sessions could be asked about.
const maxTasks = 64

// delegating is a run whose followers do tasks for it.
type delegating struct{ *run }

var _ harness.Spawner = delegating{}

// handed is a task that somebody waits for.
type handed struct {
	frame   uint64
	session harness.SessionID
	began   chan harness.SessionID // size 1, so that whoever reports never waits
	ended   chan TaskReport        // likewise
}

// Spawn has whoever follows the run do the task.
func (r delegating) Spawn(ctx context.Context, n harness.NewSession, task string, started func(harness.SessionID)) (string, error) {
	id, h, err := r.hand(n, task)
	if err != nil {
		return "", err
	}
	defer r.drop(id)
	for {
		select {
		case session := <-h.began:
			started(session)
			continue
		case end := <-h.ended:
			select { // what came first is told first
			case session := <-h.began:
				started(session)
			default:
			}
			if end.Error != nil {
				return end.Answer, end.Error.err()
			}
			return end.Answer, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-r.ctx.Done():
			return "", context.Cause(r.ctx)
		}
	}
}

// Join is for whoever follows runs.
func (delegating) Join(context.Context, harness.SessionID) (string, error) {
	return "", fmt.Errorf("a run waits only for tasks that it has handed on itself: %w", harness.ErrUnsupported)
}

// hand asks for a task.
func (r *run) hand(n harness.NewSession, prompt string) (string, *handed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ctx.Err() != nil:
		return "", nil, context.Cause(r.ctx)
	case len(r.tasks) >= maxTasks:
		return "", nil, fmt.Errorf("%d tasks are under way: %w", maxTasks, harness.ErrQueueFull)
	}
	r.handed++
	t := Task{TaskID: strconv.Itoa(r.handed), Title: n.Title, Prompt: prompt}
	if c := n.Config; c.Model != nil {
		t.Model = *c.Model
	}
	if c := n.Config; c.Effort != nil {
		t.Effort = *c.Effort
	}
	if c := n.Config; c.Agent != nil {
		t.Agent = *c.Agent
	}
	if c := n.Config; c.MaxTurns != nil {
		t.MaxTurns = *c.MaxTurns
	}
	frame, err := r.spool.add(Frame{Type: TaskAsked, Task: &t})
	if err != nil {
		return "", nil, err
	}
	h := &handed{frame: frame, began: make(chan harness.SessionID, 1), ended: make(chan TaskReport, 1)}
	r.tasks[t.TaskID] = h
	return t.TaskID, h, nil
}

// drop forgets a task. If nobody has said what came of it, nobody needs it any
// more.
func (r *run) drop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tasks[id] == nil { // it was reported
		return
	}
	delete(r.tasks, id)
	if r.state == Running {
		_, _ = r.spool.add(Frame{Type: TaskDropped, Task: &Task{TaskID: id}}) // a spool that is broken ends its readers, too
	}
}

// report takes what somebody says of a task.
func (r *run) report(id string, t TaskReport) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.tasks[id]
	switch {
	case h == nil:
		return fmt.Errorf("task %q: nobody waits for it: %w", id, harness.ErrNotRunning)
	case !t.Done && t.SessionID == "":
		return fmt.Errorf("task %q: there is nothing said of it: %w", id, harness.ErrInvalid)
	case t.SessionID != "" && h.session != "" && h.session != t.SessionID:
		return fmt.Errorf("task %q is done by %s: %w", id, h.session, harness.ErrDecided)
	}
	if t.SessionID != "" && h.session == "" {
		h.session = t.SessionID
		h.began <- t.SessionID
	}
	if t.Done {
		delete(r.tasks, id)
		h.ended <- t
	}
	return nil
}

// ProblemOf is an error as a problem, in the words of the closed set if it wraps
// one of it.
func ProblemOf(err error) *Problem {
	if e, ok := errors.AsType[*harness.Error](err); ok {
		return &Problem{e.Code, strings.TrimSuffix(harness.ClientText(err), ": "+e.Text)}
	}
	return &Problem{"failed", err.Error()}
}
