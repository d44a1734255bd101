package native

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"harness"
	"harness/engine/native/schema"
	"harness/memory"
	"harness/model"
	"harness/tool"
	"harness/tool/mcp"
)

// Options of an engine. The zero value of each is its default.
type Options struct {
	Model    string      // asked for by sessions that name none; empty is the client's own
	Provider string      // whose model that is, for Facts, until an answer says otherwise
	Facts    model.Facts // windows and prices; model.KnownFacts()
	System   string      // who the model is; a few lines about working in a workspace

	// Tools are offered in every session that has a workspace.
	Tools []tool.Tool
	// Servers are MCP servers, which run in each session's workspace.
	Servers []mcp.Server

	// Sandbox makes the workspaces; without one, a turn has no tools that need it.
	Sandbox harness.Sandbox
	// Workspace is what a workspace must offer, but for its session and directory.
	Workspace harness.WorkspaceSpec
	// Notice says what holds in a workspace; by default, what that itself says.
	Notice func(harness.Workspace) harness.SandboxNotice

	Hooks  []Hook
	Limits Limits
	// Plain leaves out project instructions and skills of the workspace.
	Plain bool
	// Memory opens the book of what sessions of a directory are to remember.
	Memory func(directory string) (*memory.Book, error)

	Log *slog.Logger
}

// Limits bound turns. The zero value of each is its default; negative is none.
type Limits struct {
	Turn   time.Duration // from its beginning, without waiting for people; one hour
	Call   time.Duration // of one tool call; 30 minutes
	Idle   time.Duration // how long a session's workspace stays open without a turn; 15 minutes
	Rounds int           // answers of the model in one turn, where the session says nothing; 200
	Tools  int           // offered at once; what is over must be searched for; 25
}

// Engine is a [harness.Engine].
type Engine struct {
	client model.Client
	opts   Options

	mu       sync.Mutex // guards what follows
	sessions map[harness.SessionID]*session
	closed   bool
	closing  sync.WaitGroup // idle sessions that are closed
	schemas  map[string]*schema.Schema
}

var (
	_ harness.Engine = (*Engine)(nil)
	_ io.Closer      = (*Engine)(nil)
)

// New makes an engine that asks client. The client sees to retries and to other
// providers itself: see model.Retry and model.Fallback.
func New(client model.Client, opts *Options) *Engine {
	e := &Engine{client: client, sessions: make(map[harness.SessionID]*session)}
	if opts != nil {
		e.opts = *opts
	}
	o := &e.opts
	if o.Facts == nil {
		o.Facts = model.KnownFacts()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.System = cmp.Or(o.System, defaultSystem)
	o.Limits.Turn = cmp.Or(o.Limits.Turn, time.Hour)
	o.Limits.Call = cmp.Or(o.Limits.Call, 30*time.Minute)
	o.Limits.Idle = cmp.Or(o.Limits.Idle, 15*time.Minute)
	o.Limits.Rounds = cmp.Or(o.Limits.Rounds, 200)
	o.Limits.Tools = cmp.Or(o.Limits.Tools, 25)
	return e
}

// maxSchemas bounds the schemas that are kept ready. To compile one takes longer
// than the rest of a turn's beginning.
const maxSchemas = 1024

// compile reads a tool's schema, once.
func (e *Engine) compile(raw json.RawMessage) (*schema.Schema, error) {
	e.mu.Lock()
	s := e.schemas[string(raw)]
	e.mu.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.schemas == nil || len(e.schemas) >= maxSchemas {
		e.schemas = make(map[string]*schema.Schema)
	}
	e.schemas[string(raw)] = s
	return s, nil
}

// Abilities is everything there is: it is the engine that the inventory is of.
func (*Engine) Abilities() harness.Abilities {
	return harness.Abilities{Tools: true, Steer: true, Resume: true, Thinks: true, Approve: true, Tells: []harness.Type{
		"sandbox_notice", "transport_diagnostic", "subagent_event", "turn_start_tools", "reflection", "tool_log", "tool_batch", "tool_selected",
		"tool_validation_error", "context_warning", "context_compacted", "step_progress", "usage", "retrieval", "antahkarana", "artifact", "completed",
	}}
}

// Run implements [harness.Engine].
func (e *Engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	r := &turn{e: e, t: t, h: h, log: e.opts.Log.With("session", t.Session, "turn", t.ID)}
	err := r.run(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	}
	if passing(err) {
		return fmt.Errorf("%w: %w", harness.ErrRetry, err)
	}
	return err
}

// passing reports whether another attempt may not fail in this way.
func passing(err error) bool {
	f, ok := errors.AsType[*model.Error](err)
	return ok && f.Transient()
}

// Close closes the workspaces and ends what runs in them. It is for when no
// turn runs any more, and may be called again.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	var all []*session
	for id, s := range e.sessions {
		if s.idle != nil {
			s.idle.Stop()
		}
		all = append(all, s)
		delete(e.sessions, id)
	}
	e.mu.Unlock()
	var errs []error
	for _, s := range all {
		errs = append(errs, s.close())
	}
	e.closing.Wait()
	return errors.Join(errs...)
}
