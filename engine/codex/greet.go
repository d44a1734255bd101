package codex

import (
	"context"
	"errors"
	"fmt"

	"harness"
	"harness/engine/internal/program"
	"harness/engine/internal/talk"
)

// greet makes a new process ready for the turn.
func (r *run) greet(ctx context.Context, p *program.Process, g talk.Goal) error {
	facts := []harness.Payload{&p.Notice}
	if why := unheeded(r.host.Config()); why != "" {
		facts = append(facts, &harness.TransportDiagnostic{Status: "degraded", Kind: "low_fidelity", Reason: why})
	}
	if err := r.talk.Emit(ctx, facts...); err != nil {
		return err
	}
	hello := map[string]any{
		"clientInfo":   map[string]string{"name": "harness", "title": "Harness", "version": "1"},
		"capabilities": map[string]bool{"experimentalApi": true},
	}
	if err := r.talk.Call(ctx, "initialize", hello, nil); err != nil {
		return err
	}
	if err := r.talk.Notify("initialized", nil); err != nil {
		return err
	}
	thread, err := r.open(ctx, g)
	if err != nil {
		return err
	}
	p.Kept.(*kept).thread = thread
	p.Ready()
	return nil
}

// unheeded says what of a configuration the program cannot do.
func unheeded(c harness.Config) string {
	if len((*Engine)(nil).Abilities().Unheeded(c)) == 0 {
		return ""
	}
	return "codex has no agents to choose from: agent_profile is not heeded"
}

// opening asks for a thread.
type opening struct {
	Thread       string `json:"threadId,omitempty"`
	Last         string `json:"lastTurnId,omitempty"`
	Short        bool   `json:"excludeTurns,omitempty"`
	Dir          string `json:"cwd"`
	Policy       string `json:"approvalPolicy"`
	Reviewer     string `json:"approvalsReviewer"`
	Sandbox      string `json:"sandbox"`
	Model        string `json:"model,omitempty"`
	Instructions string `json:"baseInstructions,omitempty"` // others are not heard by a thread that is resumed
}

// open starts, resumes or forks a thread.
func (r *run) open(ctx context.Context, g talk.Goal) (string, error) {
	c := r.host.Config()
	// The program asks about everything, in every mode: what may run is for the
	// session's policy to say.
	ask := opening{Dir: r.turn.Directory, Policy: "untrusted", Reviewer: "user", Sandbox: off, Model: c.Model, Instructions: c.SystemPrompt}
	method := "thread/start"
	if g.Thread != "" {
		method = "thread/resume"
		ask.Thread, ask.Short = g.Thread, true
	}
	if g.From != "" {
		method = "thread/fork"
		ask.Last = g.At
	}
	var got threadAnswer
	err := r.talk.Call(ctx, method, ask, &got)
	if refused, ok := errors.AsType[*talk.Error](err); ok && g.Thread != "" {
		if refused.Code == overloaded {
			return "", fmt.Errorf("%w: %w", err, harness.ErrRetry)
		}
		return "", &talk.Lost{Why: refused.Message}
	}
	r.tr.model = got.Model
	return got.Thread.ID, err
}

// overloaded is the program's code for too much at once.
const overloaded = -32001
