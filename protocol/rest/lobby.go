package rest

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"harness"
)

// Bounds of a stream of sessions.
const (
	lobbyRows  = 1000                   // rows that it begins with, at most
	lobbyDirty = 10_000                 // sessions that changed and were not told yet; more, and the client begins anew
	lobbyPace  = 100 * time.Millisecond // a client is told what changed so often
	lobbyBeat  = 10 * time.Second       // and that nothing did
)

// lobby has the clients that watch the list of sessions. It keeps no rows: who
// changed is looked up for each client, with what it may see. While nobody is
// there it costs a commit one load.
type lobby struct {
	count atomic.Int32

	mu     sync.Mutex // guards what follows
	closed bool
	guests map[*guest]struct{}
}

// guest is one client.
type guest struct {
	caller harness.Caller
	news   chan struct{} // size 1: something changed
	left   context.CancelCauseFunc

	mu       sync.Mutex // guards what follows
	dirty    map[harness.SessionID]activity
	overflow bool
}

// activity is what a session does now, as far as its last events tell.
type activity struct {
	Doing string          `json:"doing,omitempty" rule:"words=thinking|writing|tool|asking"`
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"` // of the tool, unless it is long
}

// maxActivityInput is how long a tool's input may be to be told in a list.
const maxActivityInput = 2000

// shown is told of every commit. It does not block.
func (l *lobby) shown(id harness.SessionID, events []harness.Event) {
	if l.count.Load() > 0 {
		l.changed(id, activityOf(events))
	}
}

// changed marks a session for every client.
func (l *lobby) changed(id harness.SessionID, a activity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for g := range l.guests {
		g.mark(id, a)
	}
}

func (g *guest) mark(id harness.SessionID, a activity) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if before, ok := g.dirty[id]; ok && a.Doing == "" {
		a = before
	}
	if len(g.dirty) >= lobbyDirty {
		g.overflow = true
		return
	}
	g.dirty[id] = a
	select {
	case g.news <- struct{}{}:
	default: // it knows
	}
}

// take is what changed since it was last asked.
func (g *guest) take() (dirty map[harness.SessionID]activity, overflow bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	dirty, overflow = g.dirty, g.overflow
	g.dirty, g.overflow = map[harness.SessionID]activity{}, false
	return dirty, overflow
}

// enter adds a client, whose context ends when it must go.
func (l *lobby) enter(ctx context.Context, c harness.Caller) (*guest, context.Context, error) {
	ctx, left := context.WithCancelCause(ctx)
	g := &guest{caller: c, news: make(chan struct{}, 1), left: left, dirty: map[harness.SessionID]activity{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		left(nil)
		return nil, nil, harness.ErrUnavailable
	}
	if l.guests == nil {
		l.guests = map[*guest]struct{}{}
	}
	l.guests[g] = struct{}{}
	l.count.Add(1)
	return g, ctx, nil
}

func (l *lobby) leave(g *guest) {
	g.left(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.guests, g)
	l.count.Add(-1)
}

// closeIf ends the streams of callers that are nobody any more.
func (l *lobby) closeIf(ended func(*harness.Caller) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for g := range l.guests {
		if ended(&g.caller) {
			g.left(errExpired)
		}
	}
}

// shutdown ends all of them. Their handlers return by themselves.
func (l *lobby) shutdown() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for g := range l.guests {
		g.left(harness.ErrUnavailable)
	}
}

// activityOf is what the last of some events says that a session does.
func activityOf(events []harness.Event) (a activity) {
	for _, e := range events {
		switch p := e.Payload.(type) {
		case *harness.ToolCall:
			a = activity{"tool", p.Name, shortInput(p.Arguments)}
		case *harness.ApprovalRequired:
			a = activity{"asking", p.ToolName, shortInput(p.Input)}
		case *harness.Thinking:
			a = activity{Doing: "thinking"}
		case *harness.Token:
			a = activity{Doing: "writing"}
		}
	}
	return a
}

func shortInput(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxActivityInput {
		return nil
	}
	return raw
}
