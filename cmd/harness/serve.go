package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"harness"
	"harness/engine/script"
	"harness/gateway"
	"harness/kernel"
	"harness/record"
)

// serve is the server, from the first flag to the last goroutine.
func serve(ctx context.Context, p *program, args []string) error {
	f := p.flags("serve", "[flags]", "Start the server. It stops cleanly on SIGTERM or Ctrl-C.\n"+
		"Clients need the token in the data directory's file token; harness run, attach and stdio find it there, browsers get a login URL.",
		"harness serve",
		"harness serve --addr 127.0.0.1:0 --data ./data --cwd ~/project",
		"harness serve --engine script:demo.script --store memory",
		"harness serve --addr 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem --name agents.example.com")
	cwd := f.String("cwd", ".", "`DIR` that new sessions work in")
	roots := f.String("root", "", "directories beside --cwd that callers may have sessions work in, `DIR` with commas")
	engine := f.engine()
	timeout := f.Duration("approval-timeout", 0, "deny an approval that nobody answered after this time; 0 waits for ever")
	drain := f.Duration("drain", 10*time.Second, "how long running turns may take to end when the server stops")
	idle := f.Duration("idle-after", 2*time.Second, "how long a session with nothing to do stays in memory")
	lease, retain := f.lease(), f.retention()
	concurrency := f.Int("concurrency", kernel.Concurrency, "how many background sessions run at a time (`N`); the others wait in line")
	verbose := f.Bool("verbose", false, "log more")
	w, d, sources, house, shots := f.where(), f.door(), f.secrets(), f.housing(), f.snapshots()
	ruleFile, apart, out := f.policy(), f.tasks(), f.outbound()
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	if *concurrency < 1 {
		return f.mistake("--concurrency must be 1 or more")
	}
	if *retain < 0 {
		return f.mistake("--retention must not be negative")
	}
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	hidden, err := p.hide(ctx, sources)
	if err != nil {
		return err
	}
	log := slog.New(hidden.Handler(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level})))
	dir, err := directory(*cwd)
	if err != nil {
		return err
	}
	calls, err := ruleFile.open(log)
	if err != nil {
		return err
	}
	within, err := gateway.NewRoots(append(parts(*roots), dir)...)
	if err != nil {
		return fmt.Errorf("--root: %w", err)
	}
	if err := house.settle(*w.data, log, hidden); err != nil {
		return err
	}
	name, eng, err := openEngine(*engine, house)
	if err != nil {
		return err
	}
	if c, ok := eng.(io.Closer); ok {
		defer c.Close()
	}
	listener, err := d.listen(ctx, log)
	if err != nil {
		if at, none := gateway.Discover(*w.data); none == nil && strings.HasSuffix(at.URL, "://"+*d.addr) {
			return fmt.Errorf("a server of %s runs already at %s (process %d); harness login prints a URL for it", *w.data, at.URL, at.PID)
		}
		return err
	}
	defer listener.Close()
	store, err := w.open(ctx, false)
	if err != nil {
		return err
	}
	defer store.Close()

	shelf, closeShelf, err := shelfOf(store, *w.data)
	if err != nil {
		return err
	}
	defer closeShelf()
	keep, err := shots.open(ctx, filepath.Join(*w.data, "snapshots"), dir, depotOf(store), log)
	if err != nil {
		return err
	}
	defer keep.close()
	rooms := apart.beside(*w.data)
	if keep.tasks, err = filepath.Abs(*rooms.dir); err != nil {
		return fmt.Errorf("--tasks: %w", err)
	}
	all := map[string]harness.Engine{name: record.Engine(eng, keep.recorded(eng, name, log))}
	nodes, err := among(store, name, *lease, log)
	if err != nil {
		return err
	}
	opts := &kernel.Options{
		Log: log, Engine: name, Directory: dir, ApprovalTimeout: *timeout, IdleAfter: *idle, Concurrency: *concurrency, Redact: hidden, Shelf: shelf, Files: keep.filesOf(eng, name), Policy: calls.of, Tasks: rooms,
	}
	nodes.join(opts, eng)
	k := kernel.New(store, all, opts)
	defer nodes.leave(log)
	defer k.Close()
	s := &surface{
		k: k, nodes: nodes, engines: all, engine: name, shelf: shelf, book: house.book,
		log: log, secrets: hidden, roots: within, calls: calls, directory: dir,
		rewinds: keep.trees != nil,
		about:   house.about,
		ready:   ctx,

		outbound: out,
	}
	if err := s.open(ctx, store, d, listener.Addr(), *w.data); err != nil {
		return err
	}
	n := 0
	if err = nodes.start(ctx, k); err == nil {
		err = house.reconcile(ctx, store, eng, nodes.Node != nil)
		apart.beside(*w.data).reconcile(ctx, store, log)
	}
	if err == nil {
		n, err = k.Recover(ctx)
	}
	if err != nil {
		s.shutdown(ctx)
		return err
	}
	if n > 0 {
		log.Info("recovered sessions", "count", n)
	}
	s.scheduler.Start()
	defer s.retire(ctx, *retain)()
	p.welcome(s, w, name, house.about)
	return s.run(ctx, listener, *drain)
}

// welcome tells a person where to go.
func (p *program) welcome(s *surface, w where, engine string, about [][2]string) {
	fmt.Fprintf(p.stdout, "Harness %s listens on %s\n", version(), s.url)
	if s.auth.Off() {
		fmt.Fprintf(p.stdout, "  WARNING    authentication is off: everybody who reaches this address may do everything\n  WebSocket  ws%s/ws?userId=me\n", strings.TrimPrefix(s.url, "http"))
	} else {
		fmt.Fprintf(p.stdout, "  login      %s\n             (once, within a minute; harness login prints another)\n  token      in %s\n", s.login, filepath.Join(*w.data, "token"))
	}
	fmt.Fprintf(p.stdout, "  store      %s\n  engine     %s\n", w, engine)
	for _, row := range about {
		fmt.Fprintf(p.stdout, "  %-10s %s\n", row[0], row[1])
	}
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
