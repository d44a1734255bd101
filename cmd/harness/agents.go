package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"harness"
	"harness/custody"
	"harness/egress"
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
	return agent{e, func() error { return errors.Join(e.Close(), out.Close()) }}, nil
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
	return agent{e, func() error { return errors.Join(e.Close(), out.Close()) }}, nil
}

// acp is any agent that speaks the Agent Client Protocol. Which model it asks is
// its own business, so what it needs for that is named: its variables, its files
// and the network.
func (h *housing) acp(command string) (harness.Engine, error) {
	args := strings.Fields(command)
	if len(args) == 0 {
		return nil, fmt.Errorf("--engine acp: which agent? acp:COMMAND, such as \"acp:opencode acp\": %w", harness.ErrInvalid)
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, fmt.Errorf("--engine acp: %w: %w", err, harness.ErrInvalid)
	}
	base, _, err := h.bridge("acp", "")
	if err != nil {
		return nil, fmt.Errorf("--engine acp: %w", err)
	}
	e := acp.New(acp.Options{Command: args, Base: base})
	return agent{e, e.Close}, nil
}

// bridge is what bridges to programs need: a sandbox, and a way out to their
// provider if it is known.
func (h *housing) bridge(name, provider string) (codex.Base, *wayOut, error) {
	ctx := context.Background()
	box, notice, err := h.enclose(ctx)
	if err != nil {
		return codex.Base{}, nil, err
	}
	spec := h.workspace()
	base := codex.Base{Sandbox: box, Notice: notice, ReadOnly: spec.ReadOnly, Hidden: spec.Hidden, Network: spec.Network, Limits: spec.Limits, Log: h.log}
	if h.data != "" {
		base.State = filepath.Join(h.place(), "agents", name)
	}
	h.about = append(h.about, [2]string{"sandbox", fenced(notice)})
	if provider == "" {
		return base, nil, nil
	}
	out, err := h.wayOut(ctx, provider, notice)
	if err != nil {
		return base, nil, err
	}
	base.Outfit, base.Network = out.fit, base.Network || out.loop != ""
	return base, out, nil
}

// enclose chooses a sandbox. Processes are in the book before they run, where
// there is one.
func (h *housing) enclose(ctx context.Context) (harness.Sandbox, harness.SandboxNotice, error) {
	box, notice, err := h.fence.choose(ctx)
	if err == nil && h.book != nil {
		box = h.book.Sandbox(box)
	}
	return box, notice, err
}

// wayOut is a proxy for the processes of one engine.
type wayOut struct {
	proxy    *egress.Proxy
	provider string
	self     string // this program, as a sandbox sees it
	dir      string // of the socket
	socket   string // where there is no network
	loop     string // address on loopback, where there is
	serving  sync.WaitGroup
}

// wayOut opens the way to a provider for agents of a sandbox.
func (h *housing) wayOut(ctx context.Context, provider string, notice harness.SandboxNotice) (w *wayOut, err error) {
	keys, err := h.brain.find(ctx, h.program, h.secrets)
	if err != nil {
		return nil, err
	}
	key := keys[provider]
	if key == "" {
		return nil, fmt.Errorf("no key for its model; set $%s or --key %s=SOURCE: %w", providers[provider].key, provider, harness.ErrInvalid)
	}
	row := egress.Anthropic(func() string { return key })
	if provider == "openai" {
		row = egress.OpenAI(func() string { return key })
	}
	if url := (*h.brain.urls)[provider]; url != "" {
		row.Base = url
	}
	proxy, err := egress.New(map[string]egress.Provider{provider: row}, &egress.Options{Log: h.log})
	if err != nil {
		return nil, err
	}
	w = &wayOut{proxy: proxy, provider: provider}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if w.self, err = os.Executable(); err != nil {
		return nil, err
	}
	sweepSockets()
	if w.dir, err = os.MkdirTemp("", fmt.Sprintf("hx-%d-", os.Getpid())); err != nil { // short: a socket's path has 108 bytes
		return nil, err
	}
	network, address := "tcp", "127.0.0.1:0"
	if slices.Contains(notice.Enforces, string(harness.GuardNetwork)) && !*h.fence.network {
		w.socket = filepath.Join(w.dir, "s")
		network, address = "unix", w.socket
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	if w.socket == "" {
		w.loop = "http://" + l.Addr().String()
	}
	w.serving.Go(func() {
		if err := proxy.Serve(l); err != nil {
			h.log.Error("the way out is closed", "err", err)
		}
	})
	return w, nil
}

// sweepSockets removes what processes that were killed left of their ways out.
func sweepSockets() {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "hx-*-*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), "hx-%d-", &pid); err != nil || custody.Ref(pid).Started != 0 {
			continue
		}
		_ = os.RemoveAll(dir) // another's stays
	}
}

// address is where a process finds it.
func (w *wayOut) address() string {
	if w.socket != "" {
		return "http://" + egress.AnyHost
	}
	return w.loop
}

// fit is what a session's process is given. Its token is good while it lives.
func (w *wayOut) fit(id harness.SessionID) (harness.Outfit, error) {
	token, revoke, err := w.proxy.Grant(egress.Grant{Session: id, Provider: w.provider})
	if err != nil {
		return harness.Outfit{}, err
	}
	out := harness.Outfit{Close: revoke}
	if w.socket != "" {
		out.ReadOnly, out.Sockets = []string{w.self}, []string{w.socket}
		out.Wrap = func(args []string) []string { return egress.Wrap(w.self, egress.AnyPort, w.socket, args...) }
	}
	if out.Env, err = w.proxy.Env(w.provider, w.address(), token); err != nil {
		revoke()
	}
	return out, err
}

// Close ends what is under way.
func (w *wayOut) Close() error {
	err := w.proxy.Close()
	w.serving.Wait()
	return errors.Join(err, os.RemoveAll(w.dir))
}
