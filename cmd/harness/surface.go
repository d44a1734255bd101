package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"harness"
	"harness/archive"
	"harness/console"
	"harness/custody"
	"harness/gateway"
	"harness/kernel"
	"harness/metrics"
	"harness/notify"
	"harness/protocol/delta"
	"harness/protocol/rest"
	"harness/schedule"
)

// surface is everything of a server that clients can touch: the gate before the
// kernel, the protocols behind it, and the edge before them all.
type surface struct {
	k         *kernel.Kernel
	engines   map[string]harness.Engine
	engine    string // of sessions that name none
	nodes     cluster
	shelf     harness.Shelf
	book      *custody.Book // of processes
	log       *slog.Logger
	secrets   secrets
	roots     *gateway.Roots  // where sessions may work
	rewinds   bool            // files are kept, and can be taken back
	calls     *ruleSource     // which calls may run
	directory string          // of sessions that name none
	about     [][2]string     // what else there is to say of it
	outbound  *outbound       // who is told what happens; nil: nobody
	ready     context.Context // the server takes new work until it ends

	url, login string
	removed    func(harness.SessionID) // says that a session is gone by other ways than the gate
	auth       *gateway.Auth
	edge       *gateway.Edge
	hub        *delta.Hub
	api        *rest.Server
	page       *console.Handler
	lines      *lines
	meter      *metrics.Meter
	notifier   *notify.Notifier
	scheduler  *schedule.Scheduler
	srv        *http.Server
	closers    []func() error // in the order of opening
}

// open builds it for a server at addr whose files are in dir. What was opened
// is shut down if it fails.
func (s *surface) open(ctx context.Context, store harness.Store, d *door, addr net.Addr, dir string) (err error) {
	defer func() {
		if err != nil {
			s.shutdown(ctx)
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	names, err := d.called(addr)
	if err != nil {
		return err
	}
	logins := gateway.NewLogins(names, s.closeLogin)
	tokens, err := gateway.OpenTokens(dir, &gateway.TokenOptions{Log: s.log, Shared: accessOf(store), Server: serverName(dir), OnRevoke: func(name string) {
		logins.EndOf(name)
		s.closeOf(name)
		s.hideOwner(dir)
	}})
	if err != nil {
		return err
	}
	s.hideOwner(dir)
	failed := func(err error) { s.log.Error("logins not read or kept", "err", err) }
	if shared := accessOf(store); shared != nil {
		err = logins.Share(ctx, shared, tokens.Named, failed)
	} else {
		err = logins.Keep(filepath.Join(dir, "logins"), tokens.Named, failed)
	}
	if err != nil {
		return err
	}
	provider, err := d.provider(ctx, s.secrets)
	if err != nil {
		return err
	}
	access, err := s.logTo(filepath.Join(dir, "access.log"))
	if err != nil {
		return err
	}
	decisions, err := s.logTo(filepath.Join(dir, "audit.log"))
	if err != nil {
		return err
	}
	audit := gateway.AuditTo(decisions, s.secrets.String)
	s.auth = gateway.NewAuth(names, gateway.AuthOptions{Tokens: tokens, Logins: logins, Provider: provider, Off: *d.auth == "off"})
	s.edge = gateway.NewEdge(names, s.auth, &gateway.EdgeOptions{Access: access, Audit: audit, Clean: s.secrets.String, BehindProxy: *d.proxy})
	gate := gateway.New(s.k, &gateway.Options{Audit: audit, Roots: s.roots, Quotas: d.quotas(), Shared: s.nodes.Node != nil})
	s.removed = gate.Forget
	if s.hub, err = delta.New(gate, &delta.Options{Log: s.log}); err != nil {
		return err
	}
	s.meter = metrics.New(metrics.Source{
		Sessions:  func(ctx context.Context) (map[harness.Status]int, error) { return countSessions(ctx, store) },
		Awake:     s.k.Awake,
		Watchers:  map[string]func() int{"websocket": s.hub.Clients, "sse": func() int { return s.api.Clients() }, "jsonrpc": func() int { return s.lines.clients() }},
		Processes: s.countProcesses,
		Approvals: func(ctx context.Context) (int, error) { return countApprovals(ctx, store) },
		Notices:   func() int { return s.notifier.Waiting() },
	})
	s.k.OnCommit(s.meter.Committed)
	if err := s.openOutbound(gate, store, dir); err != nil {
		return err
	}
	s.api, err = rest.New(gate, &rest.Options{Log: s.log, Webhooks: servedHooks{gate, s.notifier, s.secrets}, Tokens: servedTokens{gate, &ring{data: dir, depot: depotOf(store)}, tokens, s.secrets}, Schedules: servedSchedules{gate, s.scheduler, s.secrets}, Version: release, Engines: s.engines, Engine: s.engine, Shelf: s.shelf, TryPolicy: s.calls.try(gate, s.directory), Processes: s.processes, Transcripts: transcriptsOf(s.secrets), Import: func(ctx context.Context, events []harness.Event) (archive.Imported, error) {
		if err := gate.Allow(ctx, gateway.Import, ""); err != nil {
			return archive.Imported{}, err
		}
		if err := s.secrets.refuse(events); err != nil {
			return archive.Imported{}, err
		}
		got, err := archive.Import(ctx, store, events)
		gate.Forget(got.Session)
		return got, err
	}})
	if err != nil {
		return err
	}
	if s.page, err = console.New(); err != nil {
		return err
	}
	s.lines = newLines(ctx, gate, s.log)
	s.lines.rewinds = s.rewinds
	s.routes()
	logins.Mount(s.edge)
	s.url = d.url(addr)
	if provider != nil && *d.client != "" {
		if err := logins.MountProvider(s.edge, provider, s.url); err != nil {
			return err
		}
	}
	if s.login, err = logins.LoginURL(s.url, tokens.Owner()); err != nil {
		s.log.Warn("no link to log in with", "err", err)
		s.login = s.url + "/login"
	}
	s.srv = s.edge.Server(s.log)
	withdraw, err := gateway.Announce(dir, s.url)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, withdraw)
	following, unfollow := context.WithCancel(ctx)
	var follower sync.WaitGroup
	follower.Go(func() { tokens.Follow(following) })
	follower.Go(func() { logins.Follow(following) })
	s.closers = append(s.closers, func() error {
		unfollow()
		follower.Wait()
		return nil
	})
	return nil
}

// logTo is a log of lines in a file of its own.
func (s *surface) logTo(path string) (*slog.Logger, error) {
	f, err := gateway.OpenLogFile(path)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, f.Close)
	return slog.New(s.secrets.Handler(slog.NewJSONHandler(f, nil))), nil
}

// hideOwner makes the owner's token one of the secrets. Named tokens are known
// by how they look: what they are is not kept.
func (s *surface) hideOwner(dir string) {
	token, _, err := gateway.FirstToken(dir)
	if err == nil {
		err = s.secrets.Add(token)
	}
	if err != nil {
		s.log.Warn("the owner's token is not known", "err", err)
	}
}

// countSessions asks the store's index, or goes through its list.
func countSessions(ctx context.Context, store harness.Store) (map[harness.Status]int, error) {
	if c, ok := store.(harness.Counter); ok {
		return c.Count(ctx)
	}
	n := make(map[harness.Status]int)
	for sum, err := range store.List(ctx, harness.Filter{}) {
		if err != nil {
			return nil, err
		}
		n[sum.Status]++
	}
	return n, nil
}

// countApprovals goes through the sessions that wait for one.
func countApprovals(ctx context.Context, store harness.Store) (n int, err error) {
	for sum, err := range store.List(ctx, harness.Filter{Statuses: []harness.Status{harness.AwaitingApproval}}) {
		if err != nil {
			return 0, err
		}
		n += sum.Pending
	}
	return n, nil
}

// processes are those of a session that the book has and that live.
func (s *surface) processes(id harness.SessionID) (all []rest.Process, err error) {
	if s.book == nil {
		return nil, nil
	}
	entries, err := s.book.Of(id)
	for _, e := range entries {
		all = append(all, rest.Process{Role: string(e.Role), PID: e.PID, Handle: e.Handle, Started: e.Since, Turn: e.Turn})
	}
	return all, err
}

// countProcesses is how many of all sessions live.
func (s *surface) countProcesses() int {
	if s.book == nil {
		return 0
	}
	all, err := s.book.All()
	if err != nil {
		s.log.Warn("processes not counted", "err", err)
	}
	return len(all)
}

// closeOf ends what was opened with a credential that is no longer valid.
func (s *surface) closeOf(name string) {
	s.hub.CloseOf(name)
	s.api.CloseOf(name)
	s.lines.closeIf(func(c harness.Caller) bool { return c.Name == name })
}

// closeLogin ends what a browser has open that is not logged in any more.
func (s *surface) closeLogin(login string) {
	s.hub.CloseLogin(login)
	s.api.CloseLogin(login)
	s.lines.closeIf(func(c harness.Caller) bool { return c.Login == login })
}

// routes is the whole HTTP surface but for logging in. What has no row of its
// own leads nowhere, and strangers do not even learn that.
func (s *surface) routes() {
	s.edge.Handle(gateway.Route{Pattern: "GET /ws"}, s.hub)
	s.edge.Handle(gateway.Route{Pattern: "GET /rpc"}, s.lines)
	for _, pattern := range rest.Patterns() {
		r := gateway.Route{Pattern: pattern}
		if pattern == "POST /sessions/import" {
			r.Needs, r.MaxBody = []gateway.Action{gateway.Import}, -1 // it bounds what it reads
		}
		s.edge.Handle(r, s.api)
	}
	s.edge.Handle(gateway.Route{Pattern: "GET /metrics", Needs: []gateway.Action{gateway.Inspect}}, s.meter)
	s.edge.Handle(gateway.Route{Pattern: "/"}, gateway.Lost(s.api))
	s.edge.Handle(gateway.Route{Pattern: "GET /about"}, http.HandlerFunc(s.tellAbout))
	for _, pattern := range append(console.Pages(), console.Files) {
		s.edge.Handle(gateway.Route{Pattern: pattern}, s.page)
	}
	// Those who look after a machine are not its users: they learn that the
	// server is there, and nothing else.
	s.edge.Handle(gateway.Route{Pattern: "GET /healthz", Public: true}, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(rw, `{"ok":true}`)
	}))
	s.edge.Handle(gateway.Route{Pattern: "GET /readyz", Public: true}, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		ok := s.ready.Err() == nil && s.nodes.ready() == nil
		if !ok {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
		how := "on"
		if s.auth.Off() {
			how = "off"
		}
		fmt.Fprintf(rw, "{\"ok\":%t,\"auth\":%q}\n", ok, how)
	}))
}

// tellAbout says which server this is, for people: what the welcome says.
func (s *surface) tellAbout(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{"version": release, "engine": s.engine, "directory": s.directory, "facts": append([][2]string{}, s.about...)}) // a browser that is gone needs none
}

// run serves until ctx ends or serving fails. Then turns get a while to end
// while their clients still watch, and everything is taken down in the
// opposite order of its building.
func (s *surface) run(ctx context.Context, l net.Listener, grace time.Duration) error {
	failed := make(chan error, 1) // Serve returns once
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { failed <- s.srv.Serve(l) })
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		s.log.Info("stopping", "drain", grace)
	}
	soon, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if s.k.Drain(soon) != nil {
		s.log.Warn("turns were still running; they will be seen to at the next start")
	}
	last, cancel2 := context.WithTimeout(context.Background(), 5*time.Second) // for clients to take the goodbye
	defer cancel2()
	s.shutdown(last)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// shutdown takes down what was opened, also if that was not all.
func (s *surface) shutdown(ctx context.Context) {
	if s.hub != nil {
		s.hub.Shutdown(ctx)
	}
	if s.api != nil {
		s.api.Shutdown(ctx)
	}
	if s.srv != nil {
		s.srv.Shutdown(ctx)
	}
	if s.lines != nil {
		s.lines.shutdown()
	}
	for _, c := range s.closers {
		if err := c(); err != nil {
			s.log.Warn("not closed", "err", err)
		}
	}
}
