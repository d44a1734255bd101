package rpc

import (
	"context"
	"fmt"

	"harness"
)

// The methods beyond S4; initialize announces each.

// threadSubscribe follows a thread: from a position on, or from now on, and
// then what is under way comes with the answer.
func (c *conn) threadSubscribe(ctx context.Context, p *params) (any, func(), error) {
	id, after := p.thread(), p.count("after", -1)
	if p.err != nil {
		return nil, nil, nil
	}
	sum, err := c.summary(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if after > int(sum.Seq) {
		p.fail("after", fmt.Sprintf("the log ends at %d", sum.Seq))
		return nil, nil, nil
	}
	if after < 0 {
		after = int(sum.Seq)
	}
	st, err := c.k.At(ctx, id, harness.Seq(max(1, after)))
	if err != nil {
		return nil, nil, err
	}
	follow := func() {
		if after == 0 { // thread.created is the first thing that happened
			c.notify(ctx, note{method: "thread.created", params: threadCreated{id, sum.Title, 1}})
		}
		if _, err := c.follow(ctx, id, st.Seq); err != nil {
			c.log.Error("thread is not followed", "thread", id, "err", err)
		}
	}
	return struct {
		Thread thread4     `json:"thread"`
		Seq    harness.Seq `json:"seq"`
		Turn   *openTurn   `json:"turn,omitempty"`
	}{asThread(sum), st.Seq, underWay(st)}, follow, nil
}

// openTurn is a turn in the middle: its items as far as they have come.
type openTurn struct {
	TurnID harness.TurnID `json:"turnId"`
	Status string         `json:"status"`
	Time   turnTime       `json:"time"`
	Items  []item4        `json:"items"`
}

func underWay(st *harness.State) *openTurn {
	t := st.Turn
	if t == nil {
		return nil
	}
	o := &openTurn{TurnID: t.ID, Status: "running", Time: turnTime{Started: t.Started.UnixMilli()}, Items: []item4{}}
	item := func(id harness.ItemID, kind string, data any) {
		o.Items = append(o.Items, item4{id, st.Session, t.ID, kind, data})
	}
	for _, m := range st.Messages[min(len(st.Messages), max(0, t.First-st.Sealed)):] {
		if m.Role == harness.User || m.Content.Len() == 0 && m.Reasoning.Len() == 0 {
			continue
		}
		item(m.ID, "assistant_message", struct {
			Text      string `json:"text"`
			Reasoning string `json:"reasoning,omitempty"`
		}{m.Content.String(), m.Reasoning.String()})
	}
	for _, c := range t.Open {
		item(c.Item, "tool_exec", toolData{CallID: c.ID, Tool: c.Name, Status: "running"})
	}
	for _, a := range st.Pending {
		item(harness.ItemID(a.ID), "approval", approvalData{a.ID, a.Call, a.Tool, a.Description, a.Input, a.Reason})
	}
	return o
}

// threadFork makes a new thread that begins with another's history.
func (c *conn) threadFork(ctx context.Context, p *params) (any, func(), error) {
	id, at, title := p.thread(), p.count("at", 0), p.text("title", false, 1024)
	if p.err != nil {
		return nil, nil, nil
	}
	if _, err := c.summary(ctx, id); err != nil {
		return nil, nil, err
	}
	fork, err := c.k.Create(ctx, harness.NewSession{User: c.opts.User, Title: title, From: &harness.Branch{Session: id, Seq: harness.Seq(at)}})
	if err != nil {
		return nil, nil, err
	}
	sum, err := c.summary(ctx, fork)
	if err != nil {
		return nil, nil, err
	}
	return c.introduce(ctx, fork, sum.Seq)
}

func (c *conn) threadConfigure(ctx context.Context, p *params) (any, func(), error) {
	id := p.thread()
	cfg := p.object("config", true)
	if p.err != nil {
		return nil, nil, nil
	}
	patch := harness.ConfigPatch{
		PermissionMode: choose(cfg, "permissionMode", modes), Effort: choose(cfg, "effort", efforts),
		Model: cfg.optional("model"), SystemPrompt: cfg.optional("systemPrompt"), Agent: cfg.optional("agent"), MaxTurns: cfg.integer("maxTurns"),
	}
	p.take(cfg)
	return c.do(ctx, p, id, harness.Configure{Patch: patch, Actor: c.opts.User})
}

var modes = map[string]harness.Mode{"default": harness.Normal, "acceptEdits": harness.AcceptEdits, "fullAuto": harness.FullAuto}

var efforts = map[string]harness.Effort{"low": harness.EffortLow, "medium": harness.EffortMedium, "high": harness.EffortHigh, "max": harness.EffortMax}

func (c *conn) threadPause(ctx context.Context, p *params) (any, func(), error) {
	return c.do(ctx, p, p.thread(), harness.Pause{Actor: c.opts.User})
}

func (c *conn) threadResume(ctx context.Context, p *params) (any, func(), error) {
	return c.do(ctx, p, p.thread(), harness.Resume{Actor: c.opts.User})
}

func (c *conn) threadRewind(ctx context.Context, p *params) (any, func(), error) {
	id := p.thread()
	return c.do(ctx, p, id, harness.Rewind{Message: harness.ItemID(p.text("messageId", true, harness.MaxID)), DryRun: p.flag("dryRun"), Actor: c.opts.User})
}

// threadHealth says how a thread is: facts of its state, no judgement.
func (c *conn) threadHealth(ctx context.Context, p *params) (any, func(), error) {
	id := p.thread()
	if p.err != nil {
		return nil, nil, nil
	}
	if _, err := c.summary(ctx, id); err != nil {
		return nil, nil, err
	}
	st, err := c.k.At(ctx, id, 0)
	if err != nil {
		return nil, nil, err
	}
	h := struct {
		ThreadID         harness.SessionID `json:"threadId"`
		Seq              harness.Seq       `json:"seq"`
		Status           harness.Status    `json:"status"`
		Reason           string            `json:"reason,omitempty"`
		Error            string            `json:"error,omitempty"`
		PendingApprovals int               `json:"pendingApprovals"`
		Queued           int               `json:"queued"`
		Attempt          int               `json:"attempt,omitempty"`
		Turns            int               `json:"turns"`
		LastEvent        int64             `json:"lastEvent"`
	}{id, st.Seq, st.Status, st.Reason, st.Error, len(st.Pending), len(st.Queue), 0, st.Turns, st.Updated.UnixMilli()}
	if st.Turn != nil {
		h.Attempt = st.Turn.Attempt
	}
	return h, nil, nil
}
