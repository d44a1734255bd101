package acp

import (
	"context"
	"errors"
	"fmt"

	"harness"
	"harness/engine/internal/program"
	"harness/engine/internal/talk"
)

// greet makes a new process ready for the turn.
func (r *run) greet(ctx context.Context, p *program.Process, session string) error {
	if err := r.talk.Emit(ctx, &p.Notice); err != nil {
		return err
	}
	hello := map[string]any{
		"protocolVersion": 1,
		"clientCapabilities": map[string]any{
			"fs": map[string]bool{"readTextFile": true, "writeTextFile": true}, "terminal": true,
		},
		"clientInfo": map[string]string{"name": "harness", "title": "Harness", "version": "1"},
	}
	var g greeting
	if err := r.talk.Call(ctx, "initialize", hello, &g); err != nil {
		return err
	}
	if g.Version != 1 {
		return fmt.Errorf("the agent speaks version %d of the protocol, not 1", g.Version)
	}
	r.kept.can = g.Can
	if why := r.limits(); why != "" {
		d := &harness.TransportDiagnostic{Status: "degraded", Kind: "low_fidelity", Reason: why}
		if err := r.talk.Emit(ctx, d); err != nil {
			return err
		}
	}
	err := r.open(ctx, session)
	if refused, ok := errors.AsType[*talk.Error](err); ok && refused.Code == unauthorized {
		if err := r.authenticate(ctx, g.methods()); err != nil {
			return err
		}
		err = r.open(ctx, session)
	}
	if err != nil {
		return err
	}
	p.Ready()
	return nil
}

// unauthorized is the protocol's code for an agent that lacks credentials.
const unauthorized = -32000

// authenticate has the agent get its credentials by the method that was named.
func (r *run) authenticate(ctx context.Context, methods string) error {
	how := r.opts.Authenticate
	if how == "" {
		return fmt.Errorf("the agent wants to be authenticated; its methods are %s", methods)
	}
	if err := r.talk.Call(ctx, "authenticate", map[string]string{"methodId": how}, nil); err != nil {
		return fmt.Errorf("method %s: %w", how, err)
	}
	return nil
}

// limits says what the log of this session will lack, once for a session, and
// what of its configuration is not heeded.
func (r *run) limits() (why string) {
	if r.turn.Ref == "" {
		why = "an ACP agent tells tools by kind and not by name, decides itself which calls it asks about, is not told why one was refused, and hears nobody while it runs"
		if !r.kept.can.Load && len(r.kept.can.Session.Resume) == 0 {
			why += "; this one does not go on with a conversation in another process"
		}
	}
	for _, name := range (*Engine)(nil).Abilities().Unheeded(r.host.Config()) {
		if why != "" {
			why += "; "
		}
		why += name + " is not heeded"
	}
	return why
}

// opening asks for a conversation.
type opening struct {
	Session string     `json:"sessionId,omitempty"`
	Dir     string     `json:"cwd"`
	Servers []struct{} `json:"mcpServers"` // none, which has to be said
}

// open begins or goes on with a conversation.
func (r *run) open(ctx context.Context, session string) error {
	ask := opening{Session: session, Dir: r.turn.Directory, Servers: []struct{}{}}
	got := sessionAnswer{Session: session}
	var err error
	switch {
	case session == "":
		err = r.talk.Call(ctx, "session/new", ask, &got)
	case len(r.kept.can.Session.Resume) > 0 && string(r.kept.can.Session.Resume) != "null":
		err = r.talk.Call(ctx, "session/resume", ask, &got)
	case r.kept.can.Load:
		r.past = true // it tells all of it again
		err = r.talk.Call(ctx, "session/load", ask, &got)
		r.past = false
	default:
		return &talk.Lost{Why: "the agent does not go on with a conversation in another process"}
	}
	if refused, ok := errors.AsType[*talk.Error](err); ok && session != "" && refused.Code != unauthorized {
		return &talk.Lost{Why: refused.Error()}
	}
	if err != nil {
		return err
	}
	if got.Session == "" {
		got.Session = session
	}
	r.kept.session, r.kept.offer, r.kept.first = got.Session, got.offer, got.offer.chosen()
	return nil
}
