package rpc

import (
	"context"
	"fmt"

	"harness"
)

// method is one row of the protocol: how its params are read and what it does.
type method struct {
	name string
	adds string // the capability that announces it; empty for S4's own
	call func(c *conn, ctx context.Context, p *params) (any, func(), error)
}

// table is the protocol. initialize's capabilities are made from it.
func table() []method {
	return []method{
		{name: "initialize", call: (*conn).initialize},
		{name: "thread.create", call: (*conn).threadCreate},
		{name: "thread.list", call: (*conn).threadList},
		{name: "thread.get", call: (*conn).threadGet},
		{name: "turn.start", call: (*conn).turnStart},
		{name: "turn.cancel", call: (*conn).turnCancel},
		{name: "approval.respond", call: (*conn).approvalRespond},
		{name: "turn.steer", adds: "steer", call: (*conn).turnSteer},
		{name: "thread.subscribe", adds: "subscribe", call: (*conn).threadSubscribe},
		{name: "thread.fork", adds: "fork", call: (*conn).threadFork},
		{name: "thread.configure", adds: "configure", call: (*conn).threadConfigure},
		{name: "thread.pause", adds: "pause", call: (*conn).threadPause},
		{name: "thread.resume", adds: "resume", call: (*conn).threadResume},
		{name: "thread.rewind", adds: "rewind", call: (*conn).threadRewind},
		{name: "thread.health", adds: "health", call: (*conn).threadHealth},
	}
}

// call carries out a request.
func (c *conn) call(ctx context.Context, r request) (any, func(), *rpcError) {
	for _, m := range c.methods {
		if m.name != r.method {
			continue
		}
		p := newParams(r.params)
		result, after, err := m.call(c, ctx, p)
		switch {
		case p.err != nil:
			return nil, after, p.err
		case err != nil:
			return nil, after, asError(err)
		}
		return result, after, nil
	}
	return nil, nil, &rpcError{Code: codeMethodNotFound, Message: fmt.Sprintf("unknown method %q", clip(r.method))}
}

// clip shortens a client's word for an error.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

type okResult struct {
	OK bool `json:"ok"`
}

func (c *conn) initialize(_ context.Context, p *params) (any, func(), error) {
	if info := p.object("clientInfo", false); info != nil {
		info.text("name", true, harness.MaxID)
		info.text("version", false, harness.MaxID)
		p.take(info)
	}
	caps := map[string]bool{"threads": true, "turns": true, "approvals": true, "streaming": true, "persistence": true, "batch": true, "paging": true}
	for _, m := range c.methods {
		if m.adds != "" {
			caps[m.adds] = true
		}
	}
	return struct {
		Version      string          `json:"version"`
		Capabilities map[string]bool `json:"capabilities"`
	}{c.opts.Version, caps}, nil, nil
}

type threadResult struct {
	Thread thread4 `json:"thread"`
}

func (c *conn) threadCreate(ctx context.Context, p *params) (any, func(), error) {
	n := harness.NewSession{User: c.opts.User, Title: p.text("title", false, 1024), Directory: p.text("directory", false, 4096)}
	if p.err != nil {
		return nil, nil, nil
	}
	id, err := c.k.Create(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	return c.introduce(ctx, id, 1)
}

// introduce answers with a new thread and tells of its creation afterwards.
func (c *conn) introduce(ctx context.Context, id harness.SessionID, created harness.Seq) (any, func(), error) {
	sum, err := c.summary(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	after := func() {
		c.notify(ctx, note{method: "thread.created", params: threadCreated{id, sum.Title, created}})
		if _, err := c.follow(ctx, id, created); err != nil {
			c.log.Error("new thread is not followed", "thread", id, "err", err)
		}
	}
	return threadResult{asThread(sum)}, after, nil
}

// summary is a thread's row, if it is the client's to see.
func (c *conn) summary(ctx context.Context, id harness.SessionID) (harness.Summary, error) {
	for s, err := range c.k.List(ctx, harness.Filter{Session: id, User: c.opts.User, Limit: 1}) {
		return s, err
	}
	return harness.Summary{}, fmt.Errorf("thread %s: %w", id, harness.ErrNotFound)
}

func (c *conn) threadList(ctx context.Context, p *params) (any, func(), error) {
	limit := p.count("limit", 0)
	f := harness.Filter{User: c.opts.User}
	if cursor := p.text("cursor", false, harness.MaxID); cursor != "" && p.err == nil {
		before, err := c.summary(ctx, harness.SessionID(cursor))
		if err != nil {
			p.fail("cursor", "no such thread")
			return nil, nil, nil
		}
		f.Before = &before
	}
	if p.err != nil {
		return nil, nil, nil
	}
	if limit > 0 {
		f.Limit = limit + 1
	}
	result := struct {
		Threads []thread4         `json:"threads"`
		Next    harness.SessionID `json:"nextCursor,omitempty"`
	}{Threads: []thread4{}}
	for s, err := range c.k.List(ctx, f) {
		if err != nil {
			return nil, nil, err
		}
		if limit > 0 && len(result.Threads) == limit {
			result.Next = result.Threads[limit-1].ThreadID
			break
		}
		result.Threads = append(result.Threads, asThread(s))
	}
	return result, nil, nil
}

func (c *conn) threadGet(ctx context.Context, p *params) (any, func(), error) {
	id := p.thread()
	after, limit := p.count("after", 0), p.count("limit", 0)
	if p.err != nil {
		return nil, nil, nil
	}
	sum, err := c.summary(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	events, next, err := c.page(ctx, id, harness.Seq(after), limit)
	if err != nil {
		return nil, nil, err
	}
	return struct {
		Thread thread4     `json:"thread"`
		Events any         `json:"events"`
		Next   harness.Seq `json:"next,omitempty"`
	}{asThread(sum), events, next}, nil, nil
}

// turnStart answers before the first notification of the turn: the thread's
// follower waits at its gate meanwhile.
func (c *conn) turnStart(ctx context.Context, p *params) (any, func(), error) {
	id := p.thread()
	parts := p.parts("input")
	patch := harness.ConfigPatch{}
	if m := p.object("model", false); m != nil {
		provider, model := m.text("providerID", true, harness.MaxID), m.text("modelID", true, harness.MaxID)
		p.take(m)
		patch.Model = new(provider + "/" + model)
	}
	if agent := p.text("agent", false, harness.MaxID); agent != "" {
		patch.Agent = &agent
	}
	onBusy := harness.Reject
	if p.flag("queue") {
		onBusy = harness.Enqueue
	}
	key := p.text("clientKey", false, harness.MaxID)
	if p.err != nil {
		return nil, nil, nil
	}
	sum, err := c.summary(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	f, err := c.follow(ctx, id, sum.Seq)
	if err != nil {
		return nil, nil, err
	}
	f.gate.Lock()
	if !patch.Empty() {
		if _, err := c.k.Do(ctx, id, harness.Configure{Patch: patch, Actor: c.opts.User}); err != nil {
			f.gate.Unlock()
			return nil, nil, err
		}
	}
	receipt, err := c.k.Do(ctx, id, harness.Submit{Parts: parts, Source: harness.FromTurn, OnBusy: onBusy, ClientKey: key, Actor: c.opts.User})
	if err != nil {
		f.gate.Unlock()
		return nil, nil, err
	}
	return struct {
		TurnID harness.TurnID `json:"turnId"`
		ItemID harness.ItemID `json:"itemId"`
		Seq    harness.Seq    `json:"seq"`
	}{receipt.Turn, receipt.Item, receipt.Seq}, f.gate.Unlock, nil
}

// do carries out a command whose answer is ok.
func (c *conn) do(ctx context.Context, p *params, id harness.SessionID, cmd harness.Command) (any, func(), error) {
	if p.err != nil {
		return nil, nil, nil
	}
	sum, err := c.summary(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.follow(ctx, id, sum.Seq); err != nil {
		return nil, nil, err
	}
	if _, err := c.k.Do(ctx, id, cmd); err != nil {
		return nil, nil, err
	}
	return okResult{true}, nil, nil
}

func (c *conn) turnCancel(ctx context.Context, p *params) (any, func(), error) {
	id := p.thread()
	return c.do(ctx, p, id, harness.Cancel{Turn: harness.TurnID(p.text("turnId", false, harness.MaxID)), Actor: c.opts.User})
}

func (c *conn) turnSteer(ctx context.Context, p *params) (any, func(), error) {
	id, parts := p.thread(), p.parts("input")
	return c.do(ctx, p, id, harness.Steer{Parts: parts, ClientKey: p.text("clientKey", false, harness.MaxID), Actor: c.opts.User})
}

// replies are S4's decisions.
var replies = map[string]harness.Decision{
	"once":   {Verdict: harness.Allow, Scope: harness.Once, Source: harness.ByUser},
	"always": {Verdict: harness.Allow, Scope: harness.Always, Source: harness.ByUser},
	"reject": {Verdict: harness.Deny, Scope: harness.Once, Source: harness.ByUser},
}

func (c *conn) approvalRespond(ctx context.Context, p *params) (any, func(), error) {
	id := harness.ApprovalID(p.text("requestId", true, harness.MaxID))
	word := p.text("decision", true, harness.MaxID)
	d, ok := replies[word]
	if p.err == nil && !ok {
		p.fail("decision", `must be "once", "always" or "reject"`)
	}
	d.Reason, d.Actor = p.text("reason", false, 16<<10), c.opts.User
	if p.err != nil {
		return nil, nil, nil
	}
	thread, err := c.where(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return c.do(ctx, p, thread, harness.Answer{Approval: id, Decision: d})
}

// where finds the thread of an approval: the one it was told of for, or one
// that waits for it.
func (c *conn) where(ctx context.Context, id harness.ApprovalID) (harness.SessionID, error) {
	c.mu.Lock()
	thread, ok := c.asked[id]
	c.mu.Unlock()
	if ok {
		return thread, nil
	}
	waiting := harness.Filter{User: c.opts.User, Statuses: []harness.Status{harness.AwaitingApproval}}
	for s, err := range c.k.List(ctx, waiting) {
		if err != nil {
			return "", err
		}
		st, err := c.k.At(ctx, s.Session, 0)
		if err != nil {
			continue // a thread that cannot be read has no answerable question
		}
		if _, ok := st.Asked(harness.Answer{Approval: id}); ok {
			c.remember(id, s.Session)
			return s.Session, nil
		}
	}
	return "", harness.ErrNoApproval
}
