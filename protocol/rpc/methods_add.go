package rpc

import (
	"context"
	"fmt"

	"harness"
	"harness/health"
)

// The methods beyond S4; initialize announces each.

// threadSubscribe follows a thread: from a position on, again if need be, or
// from now on, and then what is under way comes with the answer.
func (c *conn) threadSubscribe(ctx context.Context, x *exchange, p *threadSubscribeParams) (threadSubscribeResult, error) {
	sum, err := c.summary(ctx, p.ThreadID)
	if err != nil {
		return threadSubscribeResult{}, err
	}
	at := sum.Seq
	if p.After != nil {
		if at = harness.Seq(*p.After); at > sum.Seq {
			return threadSubscribeResult{}, beyond("after", sum)
		}
		c.leave(p.ThreadID)
	}
	if c.follows[p.ThreadID] == nil && len(c.follows) >= maxFollowed {
		return threadSubscribeResult{}, fmt.Errorf("more than %d threads, unsubscribe from some: %w", maxFollowed, harness.ErrTooLarge)
	}
	f, err := c.follow(ctx, x, p.ThreadID, at)
	if err != nil {
		return threadSubscribeResult{}, err
	}
	return threadSubscribeResult{asThread(sum), f.p.st.Seq, f.p.underWay()}, nil
}

func (c *conn) threadUnsubscribe(ctx context.Context, _ *exchange, p *threadParams) (okResult, error) {
	if _, err := c.summary(ctx, p.ThreadID); err != nil {
		return okResult{}, err
	}
	c.leave(p.ThreadID)
	return okResult{true}, nil
}

// threadFork makes a new thread that begins with another's history.
func (c *conn) threadFork(ctx context.Context, x *exchange, p *threadForkParams) (threadResult, error) {
	sum, err := c.summary(ctx, p.ThreadID)
	if err != nil {
		return threadResult{}, err
	}
	at := sum.Seq
	if p.At != nil {
		if at = harness.Seq(*p.At); at > sum.Seq {
			return threadResult{}, beyond("at", sum)
		}
	}
	id, err := c.k.Create(ctx, harness.NewSession{User: c.opts.User, Title: p.Title, From: &harness.Branch{Session: p.ThreadID, Seq: at}})
	if err != nil {
		return threadResult{}, err
	}
	return c.introduce(ctx, x, id, at)
}

func (c *conn) threadConfigure(ctx context.Context, x *exchange, p *threadConfigureParams) (okResult, error) {
	patch := harness.ConfigPatch{Model: p.Config.Model, Agent: p.Config.Agent, SystemPrompt: p.Config.SystemPrompt}
	if m := p.Config.PermissionMode; m != nil {
		patch.PermissionMode = new(modes[*m])
	}
	if e := p.Config.Effort; e != nil {
		patch.Effort = new(harness.Effort(*e))
	}
	if n := p.Config.MaxTurns; n != nil {
		patch.MaxTurns = new(int(*n))
	}
	if patch.Empty() {
		return okResult{}, badParam("config", "nothing to change")
	}
	return c.do(ctx, x, p.ThreadID, harness.Configure{Patch: patch, Actor: c.opts.User})
}

// modes are S1's words for the permission modes.
var modes = map[string]harness.Mode{"default": harness.Normal, "acceptEdits": harness.AcceptEdits, "fullAuto": harness.FullAuto}

func (c *conn) threadPause(ctx context.Context, x *exchange, p *threadParams) (okResult, error) {
	return c.do(ctx, x, p.ThreadID, harness.Pause{Actor: c.opts.User})
}

func (c *conn) threadResume(ctx context.Context, x *exchange, p *threadParams) (okResult, error) {
	return c.do(ctx, x, p.ThreadID, harness.Resume{Actor: c.opts.User})
}

// threadHealth says how a thread is: facts of its state, and what they come to.
func (c *conn) threadHealth(ctx context.Context, _ *exchange, p *threadParams) (threadHealthResult, error) {
	if _, err := c.summary(ctx, p.ThreadID); err != nil {
		return threadHealthResult{}, err
	}
	st, err := c.k.At(ctx, p.ThreadID, 0)
	if err != nil {
		return threadHealthResult{}, err
	}
	h := threadHealthResult{
		ThreadID: p.ThreadID, Seq: st.Seq, Status: st.Status, Reason: st.Reason, Error: st.Error,
		PendingApprovals: len(st.Pending), Queued: len(st.Queue), Turns: st.Turns, LastEvent: st.Updated.UnixMilli(), Flags: []threadFlag{},
	}
	if f, ok := health.Of(st); ok {
		s := f.Snapshot()
		h.Score, h.Grade, h.Hint = &s.Score, string(s.Grade), &threadHint{s.Hint.Action, s.Hint.Cursor, s.Hint.Text}
		for _, up := range s.Flags {
			h.Flags = append(h.Flags, threadFlag{up.Code, string(up.Severity), up.SinceSeq, up.Evidence, up.Message})
		}
	}
	if st.Turn != nil {
		h.Attempt = st.Turn.Attempt
	}
	return h, nil
}
