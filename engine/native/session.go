package native

import (
	"context"
	"errors"
	"fmt"
	"time"

	"harness"
	"harness/memory"
	"harness/retrieval"
	"harness/tool"
	"harness/tool/mcp"
)

// session is what turns of a session share: its workspace and what tools
// remember, and the log as it was last read.
type session struct {
	idle  *time.Timer // closes it, unless a turn uses it. Guarded by the engine
	users int         // turns that use it. Guarded by the engine

	lock      chan struct{} // holds a value while somebody uses what follows
	directory string
	env       *tool.Env    // without a call; nil while there is no workspace
	recalled  bool         // it knows which files were read before it was opened
	servers   *mcp.Set     // nil if there are none
	book      *memory.Book // nil if nothing is remembered
	index     *retrieval.Index
	conv      *conversation // of the log alone
	last      []byte        // the last event that conv has
}

// errClosed says that the engine was closed.
var errClosed = fmt.Errorf("the engine is closed: %w", harness.ErrUnavailable)

// enter finds the turn's session, or makes it. leave gives it back.
func (e *Engine) enter(id harness.SessionID) (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	s := e.sessions[id]
	if s == nil {
		s = &session{lock: make(chan struct{}, 1)}
		e.sessions[id] = s
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	s.users++
	return s, nil
}

func (e *Engine) leave(id harness.SessionID, s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.users--; s.users > 0 || e.closed || e.opts.Limits.Idle < 0 {
		return
	}
	s.idle = time.AfterFunc(e.opts.Limits.Idle, func() {
		e.mu.Lock()
		if e.closed || s.users > 0 {
			e.mu.Unlock()
			return
		}
		if e.sessions[id] == s {
			delete(e.sessions, id)
		}
		e.closing.Add(1)
		e.mu.Unlock()
		defer e.closing.Done()
		if err := s.close(); err != nil {
			e.opts.Log.Warn("workspace closed", "session", id, "err", err)
		}
	})
}

// hold waits until nobody else uses the session's fields.
func (s *session) hold(ctx context.Context) (release func(), err error) {
	select {
	case s.lock <- struct{}{}:
		return func() { <-s.lock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// workspace opens the session's workspace unless it is open. It returns nil if
// the session has none.
func (s *session) workspace(ctx context.Context, r *turn) (*tool.Env, error) {
	o := &r.e.opts
	if o.Sandbox == nil || r.t.Directory == "" {
		return nil, nil
	}
	release, err := s.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if s.env != nil && s.directory == r.t.Directory {
		return s.env, nil
	}
	if err := s.shut(); err != nil {
		r.log.Warn("workspace closed", "err", err)
	}
	spec := o.Workspace
	spec.Session, spec.Directory = r.t.Session, r.t.Directory
	w, err := o.Sandbox.Open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open the workspace %s: %w", r.t.Directory, err)
	}
	s.env, s.directory = &tool.Env{Session: r.t.Session, Workspace: w, Directory: r.t.Directory, State: tool.NewState()}, r.t.Directory
	s.recalled = false
	s.index = retrieval.Open(w, nil)
	if o.Memory != nil {
		if s.book, err = o.Memory(r.t.Directory); err != nil { // it does without
			r.log.Warn("memory not opened", "err", err)
		}
	}
	if len(o.Servers) > 0 {
		s.servers = mcp.OpenAll(ctx, o.Servers, w)
	}
	return s.env, nil
}

// notice says what holds in a workspace.
func (e *Engine) notice(w harness.Workspace) *harness.SandboxNotice {
	if e.opts.Notice != nil {
		return new(e.opts.Notice(w))
	}
	i := w.Isolation()
	n := &harness.SandboxNotice{Isolation: i.Kind, Reason: i.Reason}
	for _, g := range i.Enforces {
		n.Enforces = append(n.Enforces, string(g))
	}
	for _, g := range i.Lacks {
		n.Lacks = append(n.Lacks, string(g))
	}
	return n
}

// close ends everything of the session.
func (s *session) close() error {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	return s.shut()
}

// shut needs the session to be held.
func (s *session) shut() error {
	if s.env == nil {
		return nil
	}
	var errs []error
	if s.servers != nil {
		s.servers.Close()
	}
	if s.book != nil {
		errs = append(errs, s.book.Close())
	}
	errs = append(errs, s.env.State.Close(), s.env.Workspace.Close())
	s.env, s.servers, s.book, s.index = nil, nil, nil, nil
	return errors.Join(errs...)
}
