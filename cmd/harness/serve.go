package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"harness"
	"harness/archive"
	"harness/engine/script"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/protocol/rest"
)

// Time limits of the HTTP server. A request is a handshake or a short answer;
// whoever needs longer to send its head is not a client.
const (
	headFor = 10 * time.Second
	idleFor = 2 * time.Minute
	maxHead = 16 << 10
)

// serve is the server, from the first flag to the last goroutine.
func serve(ctx context.Context, p *program, args []string) error {
	f := p.flags("serve", "[flags]", "Start the server. It listens on loopback only and stops cleanly on SIGTERM or Ctrl-C.",
		"harness serve",
		"harness serve --addr 127.0.0.1:0 --data ./data --cwd ~/project",
		"harness serve --engine script:demo.script --store memory")
	addr := f.String("addr", "127.0.0.1:7717", "`HOST:PORT` to listen on; port 0 takes a free one")
	cwd := f.String("cwd", ".", "`DIR` that new sessions work in")
	engine := f.String("engine", "script", "`ENGINE` that runs turns: script (a demo) or script:FILE")
	timeout := f.Duration("approval-timeout", 0, "deny an approval that nobody answered after this time; 0 waits for ever")
	drain := f.Duration("drain", 10*time.Second, "how long running turns may take to end when the server stops")
	idle := f.Duration("idle-after", 2*time.Second, "how long a session with nothing to do stays in memory")
	verbose := f.Bool("verbose", false, "log more")
	w := f.where()
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
	dir, err := directory(*cwd)
	if err != nil {
		return err
	}
	name, eng, err := openEngine(*engine)
	if err != nil {
		return err
	}
	listener, err := listen(*addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	store, err := w.open(ctx, false)
	if err != nil {
		return err
	}
	defer store.Close()

	k := kernel.New(store, map[string]harness.Engine{name: eng}, &kernel.Options{
		Log: log, Engine: name, Directory: dir, ApprovalTimeout: *timeout, IdleAfter: *idle,
	})
	defer k.Close()
	hub, err := delta.New(k, &delta.Options{Log: log})
	if err != nil {
		return err
	}
	api, err := rest.New(k, &rest.Options{Log: log, Version: release, Import: func(ctx context.Context, events []harness.Event) (archive.Imported, error) {
		return archive.Import(ctx, store, events)
	}})
	if err != nil {
		hub.Shutdown(ctx)
		return err
	}
	n, err := k.Recover(ctx)
	if err != nil {
		hub.Shutdown(ctx)
		api.Shutdown(ctx)
		return err
	}
	if n > 0 {
		log.Info("recovered sessions", "count", n)
	}
	lines := newLines(ctx, k, log)
	srv := &http.Server{
		Handler: guard(listener.Addr(), routes(ctx, hub, lines, api)), ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: headFor, IdleTimeout: idleFor, MaxHeaderBytes: maxHead,
	}
	p.welcome(listener.Addr(), w, *engine)
	return run(ctx, log, srv, listener, k, hub, api, lines, *drain)
}

// run serves until ctx ends or serving fails. Then turns get a while to end
// while their clients still watch, and everything is taken down in the
// opposite order of its building.
func run(ctx context.Context, log *slog.Logger, srv *http.Server, l net.Listener, k *kernel.Kernel, hub *delta.Hub, api *rest.Server, lines *lines, grace time.Duration) error {
	failed := make(chan error, 1) // Serve returns once
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { failed <- srv.Serve(l) })
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		log.Info("stopping", "drain", grace)
	}
	soon, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if k.Drain(soon) != nil {
		log.Warn("turns were still running; they will be seen to at the next start")
	}
	last, cancel2 := context.WithTimeout(context.Background(), 5*time.Second) // for clients to take the goodbye
	defer cancel2()
	hub.Shutdown(last)
	api.Shutdown(last)
	srv.Shutdown(last)
	lines.shutdown()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// routes is the whole HTTP surface: what is listed here, and the API for every
// other path. The server is alive as long as it answers, and ready until ctx
// ends.
func routes(ctx context.Context, hub *delta.Hub, lines *lines, api *rest.Server) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/ws", only(hub))
	mux.Handle("/rpc", only(lines))
	mux.Handle("/healthz", only(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(rw, `{"ok":true}`)
	})))
	mux.Handle("/readyz", only(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		if ctx.Err() != nil {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintf(rw, "{\"ok\":%t}\n", ctx.Err() == nil)
	})))
	mux.Handle("/{$}", only(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(rw, welcomePage, release, r.Host)
	})))
	mux.Handle("/", api)
	return mux
}

// only lets GET and HEAD through.
func only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			rw.Header().Set("Allow", "GET, HEAD")
			http.Error(rw, "this path has only GET", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

const welcomePage = `Harness %[1]s

Sessions are served over HTTP:

    curl http://%[2]s/chat/sessions --json '{}'
    curl http://%[2]s/chat/sessions/SESSION/turns --json '{"prompt":"hello"}' -H 'Accept: text/event-stream' -N

GET /openapi.json describes every operation; docs/http.md is a walk through them.

The same sessions are served over WebSocket: connect to

    ws://%[2]s/ws?userId=me

and send {"type":"commands","commands":[{"type":"submit","prompt":"hello"}]}.
The protocol is described in docs/protocols/websocket.md.
`

// welcome tells a person where to go.
func (p *program) welcome(addr net.Addr, w where, engine string) {
	fmt.Fprintf(p.stdout, "Harness %s listens on http://%s\n", version(), addr)
	fmt.Fprintf(p.stdout, "  HTTP       http://%s/openapi.json\n  WebSocket  ws://%s/ws?userId=me\n  store      %s\n  engine     %s\n", addr, addr, w, engine)
	if engine == "script" {
		fmt.Fprintf(p.stdout, "  The script engine plays a demo; it is not a language model. Try the prompts: %s.\n", strings.Join(script.DemoWords(), ", "))
	}
}

// directory is an existing directory, as an absolute path.
func directory(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("--cwd: %w", err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", fmt.Errorf("--cwd: %w: %w", err, harness.ErrInvalid)
	case !info.IsDir():
		return "", fmt.Errorf("--cwd: %s is not a directory: %w", abs, harness.ErrInvalid)
	}
	return abs, nil
}
