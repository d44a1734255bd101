// Package mcp offers the tools of MCP servers to the native engine's model.
//
// A server is a program that runs in the session's workspace, and so in its
// sandbox, or a URL. It is somebody else's code: what it says is bounded in
// bytes, messages and time, what it says about itself is believed only if its
// row says so, and one that hangs, floods or dies is an error of the call that
// met it. A call is sent at most once. A server that died starts again at the
// next call, a few times; one that floods does not.
//
// The list of tools changes only in Refresh, never while a turn runs.
//
// Not offered: prompts, sampling, elicitation, roots, OAuth, and the SSE
// transport of 2024.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"harness"
	"harness/tool"
)

// Client is one server. It serves any number of calls at once.
type Client struct {
	server    Server
	slug      string
	workspace harness.Workspace

	turn   chan struct{}   // holds a token while nobody starts or ends a link
	closed context.Context // done when the client is
	close  context.CancelFunc

	mu       sync.Mutex // guards what follows
	link     *link
	restarts restarts
	failed   error // why it will not start again
	tools    []tool.Tool
	hidden   int
	old      bool // the list is of an earlier life
}

// Open starts a server and lists its tools. ctx bounds the start; the server
// lives until Close, or until its workspace is closed.
func Open(ctx context.Context, server Server, workspace harness.Workspace) (*Client, error) {
	return open(ctx, server, serverSlug(server.Name, nil), workspace)
}

func open(ctx context.Context, server Server, slug string, workspace harness.Workspace) (*Client, error) {
	if err := server.check(); err != nil {
		return nil, err
	}
	server.Start = cmp.Or(server.Start, StartTimeout)
	server.Call = cmp.Or(server.Call, CallTimeout)
	c := &Client{server: server, slug: slug, workspace: workspace, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	c.closed, c.close = context.WithCancel(context.WithoutCancel(ctx))
	l, list, err := c.start(ctx)
	if err != nil {
		c.close()
		return nil, c.named(err)
	}
	c.link = l
	c.tools, c.hidden = c.offer(list)
	return c, nil
}

// start makes a link and lists its tools, within the server's time.
func (c *Client) start(ctx context.Context) (*link, []*sdk.Tool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.server.Start, fmt.Errorf("it did not start within %v", c.server.Start))
	defer cancel()
	l, err := connect(ctx, &c.server, c.workspace)
	if err != nil {
		return nil, nil, err
	}
	list, err := c.list(ctx, l)
	if err != nil {
		l.close()
		return nil, nil, err
	}
	return l, list, nil
}

// list asks for the tools, page by page.
func (c *Client) list(ctx context.Context, l *link) (all []*sdk.Tool, err error) {
	l.changed.Store(false) // a change from here on is news
	if l.session.InitializeResult().Capabilities.Tools == nil {
		return nil, nil
	}
	params := &sdk.ListToolsParams{}
	for range maxPages {
		var page *sdk.ListToolsResult
		err = l.within(ctx, c.server.Start, func(ctx context.Context) (err error) {
			page, err = l.session.ListTools(ctx, params)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" || len(all) > 16*MaxTools {
			break
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return all, nil
}

// Tools are what the server offers, as of Open or the last Refresh.
func (c *Client) Tools() []tool.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tools)
}

// Refresh lists the tools again if the server said that they changed, or is not
// the one that was asked. It is meant for the start of a turn: providers cache
// what they have read of the tools. It starts nothing.
func (c *Client) Refresh(ctx context.Context) (changed bool, err error) {
	c.mu.Lock()
	l, old := c.link, c.old
	c.mu.Unlock()
	if l == nil || l.life.Err() != nil || !old && !l.changed.Load() {
		return false, nil
	}
	list, err := c.list(ctx, l)
	if err != nil {
		l.changed.Store(true)
		return false, c.named(err)
	}
	tools, hidden := c.offer(list)
	c.mu.Lock()
	defer c.mu.Unlock()
	changed = !slices.EqualFunc(c.tools, tools, sameTool)
	if changed {
		c.tools = tools
	}
	c.hidden, c.old = hidden, false
	return changed, nil
}

// use returns a link that lives, starting the server again if it must and may.
func (c *Client) use(ctx context.Context) (*link, error) {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	l, failed := c.link, c.failed
	c.mu.Unlock()
	if failed != nil {
		return nil, failed
	}
	if l.alive(ctx) {
		return l, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return c.restart(ctx, l)
}

// restart replaces a dead link. The caller has the turn.
func (c *Client) restart(ctx context.Context, dead *link) (*link, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.closed, func() { cancel(errClosed) })()
	why := context.Cause(dead.life)
	dead.close()
	if errors.Is(why, errFlood) {
		return nil, c.fail(fmt.Errorf("it was cut off: %w", why))
	}
	c.mu.Lock()
	when, ok := c.restarts.next(time.Now())
	c.mu.Unlock()
	if !ok {
		return nil, c.fail(fmt.Errorf("it died %d times within %v, the last time because: %w", maxRestarts+1, restartWindow, why))
	}
	wait := time.NewTimer(time.Until(when))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l, _, err := c.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start again: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link, c.old = l, true
	return l, nil
}

func (c *Client) fail(why error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = why
	return why
}

// call does f with a link that lives, once.
func (c *Client) call(ctx context.Context, f func(context.Context, *link) error) error {
	l, err := c.use(ctx)
	if err == nil {
		err = l.within(ctx, c.server.Call, func(ctx context.Context) error { return f(ctx, l) })
	}
	if err != nil && ctx.Err() == nil {
		err = c.named(err)
	}
	return err
}

func (c *Client) named(err error) error {
	return fmt.Errorf("mcp server %q: %w", c.server.Name, err)
}

// Close ends the server and returns when its processes are gone. Calls in flight
// fail. It may be called again.
func (c *Client) Close() {
	c.mu.Lock()
	l := c.link
	if c.failed == nil {
		c.failed = errClosed
	}
	c.mu.Unlock()
	c.close()
	l.end(errClosed) // whoever has the turn and waits for an answer gets none
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	c.mu.Lock()
	l = c.link
	c.mu.Unlock()
	l.close()
}
