package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"harness"
	"harness/custody"
	"harness/egress"
)

// exit is the flags that say what processes without a network reach all the same.
type exit struct {
	allow  *string
	tokens *int64
}

func (f *flags) exit() exit {
	return exit{
		allow:  f.String("egress-allow", "", "what processes in a sandbox may reach by https, `DOMAIN` with commas: example.com, *.example.com"),
		tokens: f.Int64("egress-tokens", 0, "how many tokens the agent of a session may use, counted on their way (`N`); 0: any"),
	}
}

// domains are those that tunnels may lead to.
func (e exit) domains() []string { return parts(*e.allow) }

// wayOut is a proxy for the processes of one engine.
type wayOut struct {
	proxy     *egress.Proxy
	providers []string
	forward   bool   // tunnels are allowed
	self      string // this program, as a sandbox sees it
	dir       string // of the socket
	socket    string // where there is no network
	loop      string // address on loopback, where there is
	serving   sync.WaitGroup

	budget int64      // tokens of a session; 0: any
	mu     sync.Mutex // guards used
	used   map[harness.SessionID]int64
}

// wayOut opens the way to providers for agents of a sandbox, and to the domains
// of --egress-allow.
func (h *housing) wayOut(ctx context.Context, notice harness.SandboxNotice, names ...string) (*wayOut, error) {
	keys, err := h.brain.find(ctx, h.program, h.secrets)
	if err != nil {
		return nil, err
	}
	rows := map[string]egress.Provider{}
	for _, name := range names {
		key := keys[name]
		if key == "" {
			return nil, h.brain.lacking(name)
		}
		row := providers[name].out(func() string { return key })
		if url := (*h.brain.urls)[name]; url != "" {
			row.Base = url
		}
		rows[name] = row
	}
	opts := &egress.Options{Log: h.log}
	shut := slices.Contains(notice.Enforces, string(harness.GuardNetwork)) && !*h.fence.network
	if all := h.exit.domains(); len(all) > 0 {
		if !shut { // a list that nothing keeps to is none
			return nil, fmt.Errorf("--egress-allow: the sandbox %s does not keep processes from the network: %w", notice.ResolvedBackend, harness.ErrInvalid)
		}
		opts.Forward = &egress.Forward{Domains: all}
	}
	if *h.exit.tokens < 0 {
		return nil, fmt.Errorf("--egress-tokens %d: less than none: %w", *h.exit.tokens, harness.ErrInvalid)
	}
	return openWayOut(rows, opts, shut, *h.exit.tokens)
}

// openWayOut opens a way out for processes that have no network, or those that
// have one.
func openWayOut(rows map[string]egress.Provider, opts *egress.Options, shut bool, budget int64) (w *wayOut, err error) {
	w = &wayOut{forward: opts.Forward != nil, budget: budget, used: map[harness.SessionID]int64{}}
	for name := range rows {
		w.providers = append(w.providers, name)
	}
	slices.Sort(w.providers)
	opts.Used, opts.Audit = w.spend, audited(opts.Log)
	if w.proxy, err = egress.New(rows, opts); err != nil {
		return nil, err
	}
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
	if shut {
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
		if err := w.proxy.Serve(l); err != nil {
			opts.Log.Error("the way out is closed", "err", err)
		}
	})
	return w, nil
}

// audited logs what is refused.
func audited(log *slog.Logger) func(egress.Record) {
	return func(r egress.Record) {
		if !r.Allowed {
			log.Info("refused on the way out", "session", r.Session, "method", r.Method, "target", r.Target, "status", r.Status, "reason", r.Reason)
		}
	}
}

// spend counts what an answer used.
func (w *wayOut) spend(g egress.Grant, u egress.Usage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used[g.Session] += u.Total()
}

// left is how many tokens a session has; 0 if nobody counts.
func (w *wayOut) left(id harness.SessionID) (int64, error) {
	if w.budget == 0 {
		return 0, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if used := w.used[id]; used >= w.budget {
		return 0, fmt.Errorf("the session has used %d of its %d tokens (--egress-tokens)", used, w.budget)
	}
	return w.budget - w.used[id], nil
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
func (w *wayOut) fit(id harness.SessionID) (out harness.Outfit, err error) {
	g := egress.Grant{Session: id, Forward: w.forward}
	if len(w.providers) > 0 {
		g.Provider, g.Others = w.providers[0], w.providers[1:]
	}
	if g.MaxTokens, err = w.left(id); err != nil {
		return out, err
	}
	token, revoke, err := w.proxy.Grant(g)
	if err != nil {
		return out, err
	}
	out.Close = revoke
	if w.socket != "" {
		out.ReadOnly, out.Sockets = []string{w.self}, []string{w.socket}
		out.Wrap = func(args []string) []string { return egress.Wrap(w.self, egress.AnyPort, w.socket, args...) }
	}
	for _, name := range w.providers {
		env, err := w.proxy.Env(name, w.address(), token)
		if err != nil {
			revoke()
			return out, err
		}
		out.Env = append(out.Env, env...)
	}
	if w.forward {
		out.Env = append(out.Env, egress.ForwardEnv(w.address(), token)...)
	}
	return out, nil
}

// Close ends what is under way. There may be none.
func (w *wayOut) Close() error {
	if w == nil {
		return nil
	}
	err := w.proxy.Close()
	w.serving.Wait()
	if w.dir == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}
