package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"harness"
	"harness/custody"
	remoteengine "harness/engine/remote"
	"harness/gateway"
	"harness/gateway/secret"
	protocol "harness/protocol/runner"
)

// host are the flags of a runner.
type host struct {
	addr, socket, engine, cwd, tokenFile, auth, cert, key, data *string
	proxy, handover                                             *bool
	idle                                                        *time.Duration
	secrets                                                     *secretSources
	house                                                       *housing
	shots                                                       snapshots
}

// runRunner is S2's SandboxRunner: it hosts an engine and serves its runs to a
// server, or to anything that speaks S2's RunnerProtocol.
func runRunner(ctx context.Context, p *program, args []string) error {
	f := p.flags("runner", "[flags]", "Host an engine for a server elsewhere: POST /query starts a run, GET /health says how it is.\n"+
		"One run at a time. Callers bring the token of --token-file, which is made if it is not there.",
		"harness runner --token-file ./runner.token --cwd ~/project",
		"harness runner --addr 127.0.0.1:8080 --auth off --engine script:demo.script",
		"harness runner --socket /run/user/1000/runner.sock --token-file ./runner.token",
		`curl -N http://127.0.0.1:8080/query --json '{"prompt":"hello"}'`)
	h := host{
		addr:      f.String("addr", "127.0.0.1:7718", "`HOST:PORT` to listen on; port 0 takes a free one"),
		socket:    f.String("socket", "", "Unix socket to listen on instead, `PATH`"),
		engine:    f.String("engine", "script", "`ENGINE` that does the runs: script (a demo) or script:FILE"),
		cwd:       f.String("cwd", ".", "`DIR` that runs work in, or below"),
		tokenFile: f.String("token-file", "", "`FILE` with the token that callers bring"),
		auth:      f.String("auth", "on", "off lets everybody in (`HOW`): on a loopback address only"),
		cert:      f.String("tls-cert", "", "`FILE` with the certificate"),
		key:       f.String("tls-key", "", "`FILE` with its key"),
		proxy:     f.Bool("behind-proxy", false, "a proxy before the runner speaks TLS, and nothing else reaches it"),
		handover:  f.Bool("handover", false, "a server of this machine started it, hands its token over on standard input, and may die"),
		data:      f.String("data", "", "`DIR` for snapshots of files; beside the token or the socket if empty"),
		idle:      f.Duration("idle", 0, "end when nobody has needed it for this time; 0 never (with --handover 5m)"),
		secrets:   f.secrets(),
		house:     f.housing(),
		shots:     f.snapshots(),
	}
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	return h.serve(ctx, p)
}

// serve hosts the engine until it is told to stop or nobody needs it.
func (h *host) serve(ctx context.Context, p *program) error {
	hidden, err := p.hide(ctx, h.secrets)
	if err != nil {
		return err
	}
	token, err := h.admission(p, hidden)
	if err != nil {
		return err
	}
	log := slog.New(hidden.Handler(slog.NewTextHandler(p.stderr, nil)))
	h.house.log, h.house.secrets = log, hidden
	if kind, _ := split(*h.engine); kind == "runner" || kind == "http" || kind == "https" {
		return fmt.Errorf("--engine %s: a runner does the work itself: %w", *h.engine, harness.ErrInvalid)
	}
	name, eng, err := openEngine(*h.engine, h.house)
	if err != nil {
		return err
	}
	if c, ok := eng.(io.Closer); ok {
		defer c.Close()
	}
	opts := &protocol.Options{Token: token, Version: version(), HasKey: p.getenv("ANTHROPIC_API_KEY") != "", Log: log}
	if !*h.handover { // a server knows where its sessions work
		if opts.Directory, err = directory(*h.cwd); err != nil {
			return err
		}
		opts.Within = opts.Directory
	}
	keep, err := h.keep(ctx, opts, log)
	if err != nil {
		return err
	}
	defer keep.close()
	if *h.socket != "" { // in memory, as some systems keep temporary files, there is less room
		opts.Spool = filepath.Dir(*h.socket)
	}
	l, url, err := h.listen()
	if err != nil {
		return err
	}
	defer l.Close()
	r := protocol.New(eng, opts)
	defer r.Close()
	if *h.handover {
		_, err = io.WriteString(p.stdout, remoteengine.Ready)
	} else {
		_, err = fmt.Fprintf(p.stdout, "Harness %s runner listens on %s\n  engine     %s\n", version(), url, name)
	}
	if err != nil {
		return err
	}
	return h.run(ctx, r, l, log)
}

// keep has files kept where they may be, and where there is a place for it. A
// server that started the runner keeps its files itself.
func (h *host) keep(ctx context.Context, opts *protocol.Options, log *slog.Logger) (*keeper, error) {
	data := *h.data
	switch {
	case data != "":
	case *h.tokenFile != "":
		data = filepath.Join(filepath.Dir(*h.tokenFile), ".harness")
	case *h.socket != "":
		data = filepath.Join(filepath.Dir(*h.socket), ".harness")
	}
	switch {
	case *h.handover:
		return &keeper{}, nil
	case data == "" && *h.shots.mode == "on":
		log.Info("no snapshots, so no rewind: there is no --data for them")
		return &keeper{}, nil
	}
	keep, err := h.shots.open(ctx, filepath.Join(data, "snapshots"), opts.Directory, nil, log)
	if err == nil {
		opts.Files, opts.Data = keep.files(), filepath.Join(data, "runs")
	}
	return keep, err
}

// admission is the token that callers bring. With a hand-over there is more: the
// rest is given to the house.
func (h *host) admission(p *program, hidden secrets) (token string, err error) {
	switch {
	case *h.handover:
		given, err := remoteengine.ReadHandover(p.stdin)
		if err == nil {
			err = hidden.Add(given.Token)
		}
		if err != nil {
			return "", err
		}
		outside := p.getenv
		p.getenv = func(name string) string { return cmp.Or(given.Keys[name], outside(name)) }
		h.house.data = given.Data
		if given.Custody != "" {
			h.house.book, err = custody.Open(given.Custody)
		}
		return given.Token, err
	case *h.auth == "off":
		return "", nil
	case *h.auth != "on":
		return "", fmt.Errorf("--auth %s: neither on nor off: %w", *h.auth, harness.ErrInvalid)
	case *h.tokenFile == "":
		return "", fmt.Errorf("callers need a token: give --token-file FILE, or --auth off for a loopback address: %w", harness.ErrInvalid)
	}
	if err := secret.Create(*h.tokenFile, []byte(rand.Text()+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	b, err := secret.Read(*h.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	if token = strings.TrimSpace(string(b)); len(token) < minToken {
		return "", fmt.Errorf("--token-file: a token of %d characters can be guessed, take %d: %w", len(token), minToken, harness.ErrInvalid)
	}
	return token, hidden.Add(token)
}

// minToken is 80 bits of what rand.Text makes.
const minToken = 16

// listen opens the socket or the address, if it may be opened with these flags.
func (h *host) listen() (l net.Listener, url string, err error) {
	if *h.socket != "" {
		if *h.auth == "off" {
			return nil, "", fmt.Errorf("--auth off is for a loopback address: %w", harness.ErrInvalid)
		}
		if l, err = protocol.ListenSocket(*h.socket); err != nil {
			return nil, "", fmt.Errorf("--socket: %w", err)
		}
		return l, "unix:" + *h.socket, os.Chmod(*h.socket, 0o600)
	}
	e := gateway.Exposure{Addr: *h.addr, TLS: *h.cert != "", BehindProxy: *h.proxy, AuthOff: *h.auth == "off"}
	if err := e.Check(); err != nil {
		return nil, "", err
	}
	if l, err = net.Listen("tcp", *h.addr); err != nil {
		return nil, "", fmt.Errorf("--addr: %w", err)
	}
	if *h.cert == "" {
		return l, "http://" + l.Addr().String(), nil
	}
	pair, err := tls.LoadX509KeyPair(*h.cert, *h.key)
	if err != nil {
		l.Close()
		return nil, "", fmt.Errorf("--tls-cert: %w", err)
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}}), "https://" + l.Addr().String(), nil
}

// run serves until ctx ends, serving fails, or nobody needs it.
func (h *host) run(ctx context.Context, r *protocol.Runner, l net.Listener, log *slog.Logger) error {
	srv := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer srv.Close()
	wg.Go(func() { stop(srv.Serve(l)) })
	if *h.handover && *h.idle == 0 {
		*h.idle = protocol.IdleAfter
	}
	if *h.idle > 0 {
		wg.Go(func() {
			if r.Rest(ctx, *h.idle) == nil {
				stop(http.ErrServerClosed)
			}
		})
	}
	<-ctx.Done()
	r.Close() // its clients hear how the run ended
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = srv.Shutdown(last) // whoever does not take the goodbye is cut off
	if *h.socket != "" {
		_ = os.Remove(*h.socket) // it leads nowhere now
	}
	if err := context.Cause(ctx); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
