package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"harness"
	"harness/engine/native/wave"
	"harness/model"
	"harness/tool"
)

// job is a call on its way.
type job struct {
	*call
	tool  *ready
	input json.RawMessage // what it runs with
	plan  tool.Plan
	asks  bool    // it is a question to people, and its answer the decision
	end   *ending // nil until it is known
}

// ending is how a call ended.
type ending struct {
	result  *harness.ToolResult // nil if there is none to show
	outcome harness.ToolOutcome
	images  []model.Part
	after   string // what a hook wants the model to know
}

// carryOut runs calls wave by wave. All of them have their outcome in the log
// when it returns nil, and the log is durable.
func (r *turn) carryOut(ctx context.Context, calls []*call) error {
	jobs := make([]*job, len(calls))
	var runnable []*job
	var planned []wave.Call
	for i, k := range calls {
		j := &job{call: k}
		jobs[i] = j
		if err := r.intend(ctx, j); err != nil {
			return err
		}
		if j.end == nil {
			runnable = append(runnable, j)
			planned = append(planned, wave.Call{ID: harness.CallID(k.id), Plan: j.plan})
		}
	}
	waves, reason := wave.Schedule(planned)
	if len(planned) > 1 {
		if err := r.emit(ctx, batch(planned, waves, reason)); err != nil {
			return err
		}
	}
	for _, w := range waves {
		if err := r.wave(ctx, runnable, w); err != nil {
			return err
		}
	}
	for _, j := range jobs {
		k := r.conv.open(harness.CallID(j.id))
		if j.end.result != nil {
			r.conv.apply(harness.Event{Payload: j.end.result})
		}
		r.conv.apply(harness.Event{Payload: &j.end.outcome})
		if k != nil {
			k.images = j.end.images
		}
	}
	for _, j := range jobs {
		if j.end.after != "" {
			if err := r.tell(ctx, string(HookAfterTool), fmt.Sprintf("About %s (%s): %s", j.name, j.id, j.end.after)); err != nil {
				return err
			}
		}
	}
	if err := r.unfit(); err != nil {
		return err
	}
	if err := r.instruct(ctx, jobs); err != nil {
		return err
	}
	if err := r.reflect(ctx); err != nil {
		return err
	}
	return r.checkpoint(ctx)
}

func batch(calls []wave.Call, waves [][]int, reason string) *harness.ToolBatch {
	b := &harness.ToolBatch{Reason: reason}
	for _, w := range waves {
		var ids []harness.CallID
		for _, i := range w {
			ids = append(ids, calls[i].ID)
		}
		b.Waves = append(b.Waves, ids)
	}
	return b
}

// intend finds out what a call would do. What cannot be done ends here.
func (r *turn) intend(ctx context.Context, j *job) error {
	j.tool = r.tools.find(j.name)
	if j.tool == nil {
		return r.close(ctx, j, failed(fmt.Sprintf("there is no tool %q; there are %s", j.name, r.names())))
	}
	fixed, problems := j.tool.schema.Check(json.RawMessage(j.args))
	if err := r.validated(ctx, j, problems, string(fixed) != j.args); err != nil || j.end != nil {
		return err
	}
	plan, err := j.tool.Plan(r.envOf(j), fixed)
	if err != nil {
		return r.close(ctx, j, failed(err.Error()))
	}
	j.input, j.plan = fixed, plan
	if a, ok := j.tool.Tool.(tool.Asker); ok {
		q, err := a.Question(fixed)
		if err != nil {
			return r.close(ctx, j, failed(err.Error()))
		}
		// The question is about the call itself, so that policy must not answer it.
		j.asks, j.plan.Access, j.plan.Summary = true, harness.AccessExecute, question(q)
	}
	return nil
}

func (r *turn) names() string {
	var names []string
	for _, t := range r.tools.offered {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// envOf is what a call works with.
func (r *turn) envOf(j *job) *tool.Env {
	env := tool.Env{Session: r.t.Session, Directory: r.t.Directory}
	if r.env != nil {
		env = *r.env
	}
	env.Call = harness.CallID(j.id)
	return &env
}

// wave runs calls at once and waits for all of them.
func (r *turn) wave(ctx context.Context, jobs []*job, members []int) error {
	errs := make([]error, len(members))
	var running sync.WaitGroup
	for n, i := range members[1:] {
		running.Go(func() { errs[n+1] = r.one(ctx, jobs[i]) })
	}
	errs[0] = r.one(ctx, jobs[members[0]])
	running.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(errs...)
}

// one asks whether a call may run, runs it, and says what came of it.
func (r *turn) one(ctx context.Context, j *job) error {
	if j.plan.Access == harness.AccessEdit {
		if err := r.s.recall(ctx, r); err != nil {
			return err
		}
	}
	if c, ok := j.tool.Tool.(tool.Checker); ok {
		if err := c.Check(r.envOf(j), j.input); err != nil { // nobody is asked about what cannot be done
			return r.close(ctx, j, failed(err.Error()))
		}
	}
	no, err := r.hook(ctx, occasion{Event: HookBeforeTool, Call: j.id, Tool: j.name, Input: j.input})
	if err != nil {
		return err
	}
	if no != "" {
		return r.close(ctx, j, denied("a hook said no: "+no))
	}
	d, err := r.may(ctx, j)
	if err != nil {
		return err
	}
	var e *ending
	switch {
	case j.asks:
		e = r.ending(ctx, j, answered(d), nil)
	case d.Verdict != harness.Allow:
		e = denied(d.Reason)
	case !d.Covers(j.input):
		e = denied("it was allowed with other arguments")
	default:
		e = r.execute(ctx, j, d)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e.after, err = r.hook(ctx, occasion{
		Event: HookAfterTool, Call: j.id, Tool: j.name, Input: j.input, Status: e.outcome.Status, Output: e.shown(), Error: e.outcome.Error,
	}); err != nil {
		return err
	}
	return r.close(ctx, j, e)
}

// may asks whether the call may run, with the arguments that it will run with.
func (r *turn) may(ctx context.Context, j *job) (harness.Decision, error) {
	resume := r.clock.pause()
	defer resume()
	u := harness.ToolUse{Call: harness.CallID(j.id), Tool: j.name, Access: j.plan.Access, Input: j.input, Description: j.plan.Summary}
	if j.plan.Destructive {
		u.Reason = "it cannot be taken back"
	}
	return r.h.Ask(ctx, u)
}

// execute runs a call that may run.
func (r *turn) execute(ctx context.Context, j *job, d harness.Decision) *ending {
	env := r.envOf(j)
	env.Log = func(stream, text string) {
		_ = r.h.Emit(ctx, &harness.ToolLog{ToolCallID: harness.CallID(j.id), Stream: stream, Text: text}) // fails only when the turn ends
	}
	run := ctx
	if limit := r.e.opts.Limits.Call; limit > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w after %s", tool.ErrTimeout, limit))
		defer cancel()
	}
	began := time.Now()
	result, err := r.guarded(run, env, j, d)
	if err != nil && run.Err() != nil && ctx.Err() == nil {
		err = context.Cause(run)
	}
	e := r.ending(ctx, j, result, err)
	e.outcome.ElapsedMS = max(1, time.Since(began).Milliseconds())
	return e
}

// guarded turns a tool's panic into an error: one broken tool is no reason to
// lose every session.
func (r *turn) guarded(ctx context.Context, env *tool.Env, j *job, d harness.Decision) (result tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("tool panicked", "tool", j.name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errors.New("the tool broke down; it may have done a part of its work")
		}
	}()
	if o, ok := j.tool.Tool.(*own); ok {
		return o.run(ctx, env, j.input, d)
	}
	return j.tool.Run(ctx, env, j.input)
}

// close records how a call ended. The conversation learns of it in call order.
func (r *turn) close(ctx context.Context, j *job, e *ending) error {
	j.end = e
	id := harness.CallID(j.id)
	if e.result != nil {
		e.result.ToolCallID, e.result.ToolName = id, j.name
		if err := r.h.Emit(ctx, e.result); err != nil {
			return err
		}
	}
	e.outcome.ToolCallID, e.outcome.ToolName, e.outcome.OutcomeType = id, j.name, harness.OutcomeType(e.outcome.Status)
	return r.h.Emit(ctx, &e.outcome)
}

func failed(why string) *ending {
	return &ending{outcome: harness.ToolOutcome{Status: harness.OutcomeError, Error: why}}
}

func denied(why string) *ending {
	return &ending{outcome: harness.ToolOutcome{Status: harness.OutcomeDenied, Reason: why}}
}

// shown is what there is to read of the result.
func (e *ending) shown() string {
	if e.result != nil {
		return e.result.Output
	}
	return ""
}
