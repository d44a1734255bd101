package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"harness"
	"harness/engine/internal/talk"
)

// cancelled answers a question of a turn that was cancelled.
func cancelled() any {
	return map[string]any{"outcome": map[string]string{"outcome": "cancelled"}}
}

// requested is something that the agent wants.
func (r *run) requested(ctx context.Context, m *talk.Message) error {
	if !r.marked && r.prompt != "" {
		if err := r.mark(ctx); err != nil {
			return err
		}
	}
	switch m.Method {
	case "session/request_permission":
		return r.permission(ctx, m)
	case "fs/read_text_file", "fs/write_text_file":
		return r.file(ctx, m)
	case "terminal/create":
		return r.create(ctx, m)
	case "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release":
		return r.terminal(m)
	}
	r.tr.strange.Count(m.Method)
	return r.talk.Refuse(m.ID, talk.CodeUnknown, "not supported: "+m.Method)
}

// retracted is a request that the agent does not want answered any more.
func (r *run) retracted(m *talk.Message) error {
	var n struct {
		ID json.RawMessage `json:"requestId"`
	}
	if err := m.Read(&n); err != nil {
		return err
	}
	if !r.talk.Retract(n.ID) {
		return nil
	}
	return r.talk.Refuse(n.ID, withdrawn, "cancelled")
}

// withdrawn is the protocol's code for a request that was cancelled.
const withdrawn = -32800

// refusal is why the agent refused something, if that is what happened.
func refusal(err error) (string, bool) {
	e, ok := errors.AsType[*talk.Error](err)
	if !ok {
		return "", false
	}
	return e.Message, true
}

// permission is a call that the agent asks about. It may be the first that is
// heard of it.
func (r *run) permission(ctx context.Context, m *talk.Message) error {
	var p permission
	if err := m.Read(&p); err != nil {
		return err
	}
	k := r.tr.merge(&p.Call)
	c := r.tr.calls.Find(k.ID)
	own := false
	switch {
	case c != nil && (c.Allowed || c.Refused()): // one question about it is answered: this is another
		c, own = r.tr.calls.Know(k.ID+"?"+string(m.ID), k.Tool, k.input()), true
	case c == nil:
		c = r.tr.calls.Know(k.ID, k.Tool, k.input())
	}
	if err := r.talk.Emit(ctx, r.tr.calls.Tell(c)...); err != nil {
		return err
	}
	asked := grant{r.tr.calls.Find(k.ID), *k}
	use := harness.ToolUse{Call: c.ID, Tool: c.Name, Access: r.access(k), Input: k.input(), Description: cmp.Or(k.Title, k.Tool)}
	r.talk.Ask(m.ID, use, func(ctx context.Context, d harness.Decision) error {
		if d.Verdict == harness.Allow {
			c.Allow()
			r.grants = append(r.grants, asked)
		} else {
			c.Refuse(cmp.Or(d.Reason, "it was not allowed"))
		}
		if own { // nothing tells how it ended
			if err := r.talk.Emit(ctx, r.tr.calls.Close(c, talk.End{})...); err != nil {
				return err
			}
		}
		return r.talk.Reply(m.ID, p.answer(d.Verdict))
	})
	return nil
}

// answer is a decision as one of the choices that the agent offers. That
// something is allowed for longer than once is the session's to remember, where
// it can be revoked; so the agent is told once, if it can be.
func (p *permission) answer(v harness.Verdict) any {
	kinds := []string{"reject_once", "reject_always"}
	if v == harness.Allow {
		kinds = []string{"allow_once", "allow_always"}
	}
	for _, kind := range kinds {
		for _, o := range p.Options {
			if o.Kind == kind {
				return map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": o.ID}}
			}
		}
	}
	return cancelled()
}

// permit asks about something that the agent has us do, unless a call that was
// allowed covers it. do does it; its error is the agent's to know.
func (r *run) permit(ctx context.Context, m *talk.Message, use harness.ToolUse, covered bool, do func(context.Context, *talk.Call) (result any, err error)) error {
	if covered {
		return r.done(ctx, m, nil, do)
	}
	c := r.tr.calls.Know(m.Method+"?"+string(m.ID), use.Tool, use.Input)
	if err := r.talk.Emit(ctx, r.tr.calls.Tell(c)...); err != nil {
		return err
	}
	use.Call = c.ID
	r.talk.Ask(m.ID, use, func(ctx context.Context, d harness.Decision) error {
		if d.Verdict == harness.Allow {
			c.Allow()
			return r.done(ctx, m, c, do)
		}
		c.Refuse(cmp.Or(d.Reason, "it was not allowed"))
		if err := r.talk.Emit(ctx, r.tr.calls.Close(c, talk.End{})...); err != nil {
			return err
		}
		return r.talk.Refuse(m.ID, talk.CodeInternal, "not allowed: "+cmp.Or(d.Reason, "no reason was given"))
	})
	return nil
}

// done does what was permitted and answers.
func (r *run) done(ctx context.Context, m *talk.Message, c *talk.Call, do func(context.Context, *talk.Call) (any, error)) error {
	result, err := do(ctx, c)
	if err != nil {
		if c != nil {
			if e := r.talk.Emit(ctx, r.tr.calls.Close(c, talk.End{Failed: err.Error()})...); e != nil {
				return e
			}
		}
		return r.talk.Refuse(m.ID, talk.CodeInternal, err.Error())
	}
	return r.talk.Reply(m.ID, result)
}
