package rpc

import (
	"context"

	"harness"
)

// turnStart answers before the first notification of the turn. A model or an
// agent is the thread's from then on.
func (c *conn) turnStart(ctx context.Context, x *exchange, p *turnStartParams) (turnStartResult, error) {
	input, bad := parts("input", p.Input)
	if bad != nil {
		return turnStartResult{}, bad
	}
	sum, err := c.summary(ctx, p.ThreadID)
	if err != nil {
		return turnStartResult{}, err
	}
	if _, err := c.follow(ctx, x, p.ThreadID, sum.Seq); err != nil {
		return turnStartResult{}, err
	}
	submit := harness.Submit{Parts: input, Source: harness.FromTurn, OnBusy: harness.Reject, ClientKey: p.ClientKey, Actor: c.opts.User}
	if p.Queue {
		submit.OnBusy = harness.Enqueue
	}
	if patch := p.patch(); !patch.Empty() && (p.Queue || !busy(sum.Status)) { // a turn that is refused changes nothing
		if _, err := c.k.Do(ctx, p.ThreadID, harness.Configure{Patch: patch, Actor: c.opts.User}); err != nil {
			return turnStartResult{}, err
		}
	}
	receipt, err := c.k.Do(ctx, p.ThreadID, submit)
	if err != nil {
		return turnStartResult{}, err
	}
	return turnStartResult{receipt.Turn, receipt.Item, receipt.Seq}, nil
}

func (p *turnStartParams) patch() harness.ConfigPatch {
	var patch harness.ConfigPatch
	if p.Model != nil {
		patch.Model = new(p.Model.ProviderID + "/" + p.Model.ModelID)
	}
	if p.Agent != "" {
		patch.Agent = &p.Agent
	}
	return patch
}

func busy(s harness.Status) bool {
	return s == harness.Queued || s == harness.Running || s == harness.AwaitingApproval || s == harness.Recovering
}

func (c *conn) turnCancel(ctx context.Context, x *exchange, p *turnCancelParams) (okResult, error) {
	return c.do(ctx, x, p.ThreadID, harness.Cancel{Turn: p.TurnID, Actor: c.opts.User})
}

func (c *conn) turnSteer(ctx context.Context, x *exchange, p *turnSteerParams) (okResult, error) {
	input, bad := parts("input", p.Input)
	if bad != nil {
		return okResult{}, bad
	}
	return c.do(ctx, x, p.ThreadID, harness.Steer{Parts: input, ClientKey: p.ClientKey, Actor: c.opts.User})
}

// replies are S4's decisions.
var replies = map[string]harness.Decision{
	"once":   {Verdict: harness.Allow, Scope: harness.Once, Source: harness.ByUser},
	"always": {Verdict: harness.Allow, Scope: harness.Always, Source: harness.ByUser},
	"reject": {Verdict: harness.Deny, Scope: harness.Once, Source: harness.ByUser},
}

func (c *conn) approvalRespond(ctx context.Context, x *exchange, p *approvalRespondParams) (okResult, error) {
	d := replies[p.Decision]
	d.Reason, d.Actor = p.Reason, c.opts.User
	id := p.ThreadID
	if id == "" {
		var err error
		if id, _, err = p.RequestID.Place(); err != nil {
			return okResult{}, err
		}
	}
	ok, err := c.do(ctx, x, id, harness.Answer{Approval: p.RequestID, Decision: d})
	if p.ThreadID == "" && harness.AsError(err) == harness.ErrNotFound {
		err = harness.ErrNoApproval
	}
	return ok, err
}
