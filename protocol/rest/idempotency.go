package rest

import (
	"context"
	"reflect"
	"slices"
	"time"

	"harness"
)

// say carries out a command that brings a user message. Under a key that was
// used for something else it is refused.
func (s *Server) say(ctx context.Context, id harness.SessionID, cmd harness.Command, key string, source harness.Source, parts []harness.Part) (harness.Receipt, error) {
	return s.do(ctx, id, cmd, key, func(p harness.Payload) bool {
		m, ok := p.(*harness.UserMessage)
		return ok && (m.Source == harness.FromSteer) == (source == harness.FromSteer) && slices.Equal(m.Parts, parts)
	})
}

// do carries out a command. Under a key, same says whether the event that its
// receipt names could be its own: else the key was used before, for another.
func (s *Server) do(ctx context.Context, id harness.SessionID, cmd harness.Command, key string, same func(harness.Payload) bool) (harness.Receipt, error) {
	got, err := s.k.Do(ctx, id, cmd)
	if err != nil || key == "" {
		return got, err
	}
	e, err := s.event(ctx, id, got.Seq)
	switch {
	case err != nil:
		return harness.Receipt{}, err
	case !same(e.Payload):
		return harness.Receipt{}, errKeyReused
	}
	return got, nil
}

// event is the event at a position.
func (s *Server) event(ctx context.Context, id harness.SessionID, seq harness.Seq) (harness.Event, error) {
	for e, err := range s.k.Read(ctx, id, seq-1) {
		return e, err
	}
	return harness.Event{}, harness.ErrCorrupt
}

// create makes a session. Under a key its id is made from the key, so that the
// same request, repeated, finds the session that the first one made.
func (s *Server) create(ctx context.Context, key, scope string, n harness.NewSession) (session, error) {
	if key != "" {
		n.ID = harness.KeyedSession(scope, key)
	}
	id, err := s.k.Create(ctx, n)
	switch {
	case err == nil:
	case key != "" && harness.AsError(err) == harness.ErrExists:
		if id, err = n.ID, s.made(ctx, n); err != nil {
			return session{}, err
		}
	default:
		return session{}, err
	}
	s.lobby.changed(id, activity{}) // a session that nothing was said to is not shown by itself
	sum, err := s.row(ctx, id, "")
	return asSession(sum), err
}

// made checks that the session n.ID was made by the same request as n.
func (s *Server) made(ctx context.Context, n harness.NewSession) error {
	sum, err := s.row(ctx, n.ID, "")
	if err != nil {
		return err
	}
	first := harness.Seq(1)
	if sum.Branched != "" {
		if _, first, err = harness.ParseEventID(sum.Branched); err != nil {
			return err
		}
		first++
	}
	e, err := s.event(ctx, n.ID, first)
	if err != nil {
		return err
	}
	p, ok := e.Payload.(*harness.SessionState)
	if !ok || !sameTitle(p.Title, n.Title) || n.Engine != "" && n.Engine != p.Engine || n.Directory != "" && n.Directory != p.Directory {
		return errKeyReused
	}
	then := harness.ConfigPatch{PermissionMode: p.PermissionMode, MaxTurns: p.MaxTurns, Model: p.Model, SystemPrompt: p.SystemPrompt, Effort: p.ThinkLevel, Agent: p.AgentProfile}
	if p.Policy != nil {
		then.Health = p.Policy.Health
	}
	if !reflect.DeepEqual(then, n.Config) || n.MaxRetries != nil && (p.MaxRetries == nil || *p.MaxRetries != *n.MaxRetries) {
		return errKeyReused
	}
	if !sameTime(p.ExpiresAt, n.Expires) || !s.samePrompt(ctx, n, first) {
		return errKeyReused
	}
	if f := n.From; f != nil && (f.Seq != 0 && f.Seq != first-1 || f.Cursor != "" && f.Cursor != p.BranchResumeCursor) {
		return errKeyReused
	}
	return nil
}

func sameTitle(then *string, now string) bool {
	return then == nil && now == "" || then != nil && *then == now
}

func sameTime(then *time.Time, now time.Time) bool {
	return then == nil && now.IsZero() || then != nil && then.Equal(now.Truncate(time.Millisecond))
}

// samePrompt reports whether a session began with the prompt of n, behind the
// event first and what else was made with it: a branch's seed, its limits, its
// workspace.
func (s *Server) samePrompt(ctx context.Context, n harness.NewSession, first harness.Seq) bool {
	if n.Prompt == nil {
		return true
	}
	const most = 8 // no session begins with more
	for e, err := range s.k.Read(ctx, n.ID, first) {
		if err != nil || e.Seq > first+most {
			break
		}
		if m, ok := e.Payload.(*harness.UserMessage); ok {
			return slices.Equal(m.Parts, n.Prompt)
		}
	}
	return false
}
