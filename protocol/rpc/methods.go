package rpc

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"harness"
	"harness/internal/shape"
)

// method is one row of the protocol.
type method struct {
	name   string
	adds   string // the capability that announces it; empty for S4's own
	params *shape.Plan
	takes  reflect.Type
	gives  reflect.Type
	call   func(c *conn, ctx context.Context, x *exchange, raw []byte) (any, error)
}

func row[P, R any](name, adds string, call func(c *conn, ctx context.Context, x *exchange, p *P) (R, error)) method {
	params := shape.PlanOf(reflect.TypeFor[P]())
	return method{name, adds, params, reflect.TypeFor[P](), reflect.TypeFor[R](), func(c *conn, ctx context.Context, x *exchange, raw []byte) (any, error) {
		p := new(P)
		if err := read(params, raw, p); err != nil {
			return nil, err
		}
		return call(c, ctx, x, p)
	}}
}

// methods is the protocol: initialize's capabilities, the schema and the
// documentation's test are made from it.
var methods = sync.OnceValue(func() []method {
	return []method{
		row("initialize", "", (*conn).initialize),
		row("thread.create", "", (*conn).threadCreate),
		row("thread.list", "", (*conn).threadList),
		row("thread.get", "", (*conn).threadGet),
		row("turn.start", "", (*conn).turnStart),
		row("turn.cancel", "", (*conn).turnCancel),
		row("approval.respond", "", (*conn).approvalRespond),
		row("turn.steer", "steer", (*conn).turnSteer),
		row("thread.subscribe", "subscribe", (*conn).threadSubscribe),
		row("thread.unsubscribe", "subscribe", (*conn).threadUnsubscribe),
		row("thread.fork", "fork", (*conn).threadFork),
		row("thread.configure", "configure", (*conn).threadConfigure),
		row("thread.pause", "pause", (*conn).threadPause),
		row("thread.resume", "resume", (*conn).threadResume),
		row("thread.rewind", "rewind", (*conn).threadRewind),
		row("thread.health", "health", (*conn).threadHealth),
		row("rule.list", "rules", (*conn).ruleList),
		row("rule.revoke", "rules", (*conn).ruleRevoke),
	}
})

// announced are S4's own capabilities, what goes beyond it in S4's own methods,
// and what the added methods bring.
func announced(list []method, rewinds bool) map[string]bool {
	caps := map[string]bool{"threads": true, "turns": true, "approvals": true, "streaming": true, "persistence": true, "batch": true, "paging": true}
	for _, m := range list {
		if m.adds != "" {
			caps[m.adds] = true
		}
	}
	caps["rewind"] = rewinds // else it is refused
	return caps
}

// call carries out a request.
func (c *conn) call(ctx context.Context, x *exchange, r request) (any, error) {
	for i := range c.methods {
		if m := &c.methods[i]; m.name == r.method {
			return m.call(c, ctx, x, r.params)
		}
	}
	return nil, &rpcError{Code: codeMethodNotFound, Message: fmt.Sprintf("unknown method %q", shape.Clip(r.method)), Data: &errorData{Code: "method_not_found"}}
}

func (c *conn) initialize(context.Context, *exchange, *initializeParams) (initializeResult, error) {
	if c.hello == nil { // it never changes
		c.hello = appendJSON(nil, initializeResult{Version: c.opts.Version, Capabilities: announced(c.methods, c.opts.Rewinds)})
	}
	return initializeResult{encoded: c.hello}, nil
}

func (r initializeResult) already() []byte { return r.encoded }

// summary is a thread's row, if it is the client's to see.
func (c *conn) summary(ctx context.Context, id harness.SessionID) (harness.Summary, error) {
	for s, err := range c.k.List(ctx, harness.Filter{Session: id, User: c.opts.User, Limit: 1}) {
		return s, err
	}
	return harness.Summary{}, fmt.Errorf("thread %s: %w", id, harness.ErrNotFound)
}

// do carries out a command whose answer is ok.
func (c *conn) do(ctx context.Context, x *exchange, id harness.SessionID, cmd harness.Command) (okResult, error) {
	sum, err := c.summary(ctx, id)
	if err != nil {
		return okResult{}, err
	}
	if _, err := c.follow(ctx, x, id, sum.Seq); err != nil {
		return okResult{}, err
	}
	if _, err := c.k.Do(ctx, id, cmd); err != nil {
		return okResult{}, err
	}
	return okResult{true}, nil
}
