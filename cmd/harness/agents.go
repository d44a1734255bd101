package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"harness"
	"harness/engine/acp"
	"harness/engine/claude"
	"harness/engine/codex"
)

// agent is an engine that drives somebody else's program, and what was opened
// for it.
type agent struct {
	harness.Engine
	close func() error
}

func (a agent) Close() error { return a.close() }

// bridged is an agent that keeps a process for a session.
type bridged struct {
	agent
	releaser
}

// claude is Claude Code, in a sandbox and without a key: it asks its model
// through the way out.
func (h *housing) claude(program string) (harness.Engine, error) {
	if program == "" {
		program = "claude"
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, fmt.Errorf("--engine claude: %w; npm install -g @anthropic-ai/claude-code, or claude:PATH: %w", err, harness.ErrInvalid)
	}
	base, out, err := h.bridge("claude", "anthropic")
	if err != nil {
		return nil, fmt.Errorf("--engine claude: %w", err)
	}
	e := claude.New(claude.Options{Program: []string{program}, Base: base})
	return bridged{agent{e, func() error { return errors.Join(e.Close(), out.Close()) }}, e}, nil
}

// codex is Codex, likewise.
func (h *housing) codex(program string) (harness.Engine, error) {
	if program == "" {
		program = "codex"
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, fmt.Errorf("--engine codex: %w; npm install -g @openai/codex, or codex:PATH: %w", err, harness.ErrInvalid)
	}
	base, out, err := h.bridge("codex", "openai")
	if err != nil {
		return nil, fmt.Errorf("--engine codex: %w", err)
	}
	e := codex.New(codex.Options{Program: []string{program}, Base: base, Config: []string{
		`model_provider="harness"`, `model_providers.harness={name="harness",base_url="` + out.address() + `/openai/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`,
	}})
	return bridged{agent{e, func() error { return errors.Join(e.Close(), out.Close()) }}, e}, nil
}

// acp is any agent that speaks the Agent Client Protocol. Which model it asks is
// its own business: it is told of a way out to every provider that there is a key
// for, in the variables that the provider's own programs read. What else it needs
// is named: its files and the network.
func (h *housing) acp(command string) (harness.Engine, error) {
	args := strings.Fields(command)
	if len(args) == 0 {
		return nil, fmt.Errorf("--engine acp: which agent? acp:COMMAND, such as \"acp:opencode acp\": %w", harness.ErrInvalid)
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, fmt.Errorf("--engine acp: %w: %w", err, harness.ErrInvalid)
	}
	keys, err := h.brain.find(context.Background(), h.program, h.secrets)
	if err != nil {
		return nil, err
	}
	var reached []string
	for name := range keys {
		if providers[name].out != nil {
			reached = append(reached, name)
		}
	}
	base, out, err := h.bridge("acp", reached...)
	if err != nil {
		return nil, fmt.Errorf("--engine acp: %w", err)
	}
	e := acp.New(acp.Options{Command: args, Authenticate: *h.login, Base: base})
	return bridged{agent{e, func() error { return errors.Join(e.Close(), out.Close()) }}, e}, nil
}

// bridge is what bridges to programs need: a sandbox, and a way out to providers
// and to what else they may reach; nil if that is nothing.
func (h *housing) bridge(name string, reached ...string) (codex.Base, *wayOut, error) {
	ctx := context.Background()
	got, err := h.enclose(ctx)
	if err != nil {
		return codex.Base{}, nil, err
	}
	spec := h.workspace()
	base := codex.Base{Sandbox: got.box, Notice: got.notice, ReadOnly: spec.ReadOnly, Hidden: spec.Hidden, Network: spec.Network, Limits: spec.Limits, Log: h.log}
	if h.data != "" {
		base.State = filepath.Join(h.place(), "agents", name)
	}
	h.about = append(h.about, [2]string{"sandbox", fenced(got.notice)})
	if len(reached) == 0 && len(h.exit.domains()) == 0 {
		return base, nil, nil
	}
	out, err := h.wayOut(ctx, got.notice, reached...)
	if err != nil {
		return base, nil, err
	}
	base.Outfit, base.Network = out.fit, base.Network || out.loop != ""
	return base, out, nil
}
