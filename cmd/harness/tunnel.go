package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"harness"
	"harness/gateway"
	"harness/protocol/rpc"
)

// upgradeTo is the name under which GET /rpc gives the connection over to S4.
const upgradeTo = "harness-rpc"

// maxLines bounds the connections of S4, each with a few goroutines and some
// 100 KiB: editors and scripts of a team.
const maxLines = 512

// dialFor bounds the handshake with a server on the same machine.
const dialFor = 5 * time.Second

// lines serves S4 on the connection of a request that asks for it, so that
// `harness stdio --connect` shares the live sessions of a running server. Its
// clients outlive the end of the server's ctx until shutdown, to see how the
// turns end that may still run.
type lines struct {
	ctx     context.Context // of the clients
	end     context.CancelFunc
	k       *gateway.Gate
	log     *slog.Logger
	rewinds bool           // files are kept, and can be taken back
	serving sync.WaitGroup // a taken-over connection each; http.Server waits for none

	mu   sync.Mutex                  // guards open
	open map[net.Conn]harness.Caller // whose they are
}

func newLines(ctx context.Context, k *gateway.Gate, log *slog.Logger) *lines {
	l := &lines{k: k, log: log, open: map[net.Conn]harness.Caller{}}
	l.ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

// shutdown ends every client and waits for it. No request comes any more.
func (l *lines) shutdown() {
	l.end()
	l.serving.Wait()
}

// closeIf ends the connections of callers that are nobody any more.
func (l *lines) closeIf(ended func(harness.Caller) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c, who := range l.open {
		if ended(who) {
			c.Close()
		}
	}
}

// clients is how many connections there are.
func (l *lines) clients() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// full reports whether there are as many connections as there may be.
func (l *lines) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) >= maxLines
}

// hold notes whose connection it is, until the end of its service.
func (l *lines) hold(c net.Conn, who harness.Caller) (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = who
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, c)
	}
}

func (l *lines) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != upgradeTo {
		rw.Header().Set("Upgrade", upgradeTo)
		http.Error(rw, "ask for an upgrade to "+upgradeTo, http.StatusUpgradeRequired)
		return
	}
	if l.full() { // a few more may come at this moment
		http.Error(rw, "too many connections", http.StatusServiceUnavailable)
		return
	}
	letGo, err := l.k.HoldLine(r.Context())
	if err != nil {
		rw.Header().Set("Retry-After", "1")
		rw.Header().Set("Connection", "close") // it wanted one that it cannot have
		l.k.Refused(r.Context(), harness.Refusal{Code: harness.AsError(err).Code, Text: harness.ClientText(err)})
		http.Error(rw, harness.ClientText(err), http.StatusTooManyRequests)
		return
	}
	if letGo != nil {
		defer letGo()
	}
	l.serving.Add(1) // before http.Server forgets the connection
	defer l.serving.Done()
	conn, buf, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		http.Error(rw, "this connection cannot be taken over", http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	caller, _ := harness.CallerOf(r.Context())
	defer l.hold(conn, caller)()
	if caller.Life.Over() { // who closes its connections may have looked before this one was there
		return
	}
	ctx := harness.WithCaller(l.ctx, caller)
	if !caller.Expires.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, caller.Expires)
		defer cancel()
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return
	}
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", upgradeTo); err != nil {
		return
	}
	rpc.Serve(ctx, l.k, buf, conn, &rpc.Options{Log: l.log, Version: release, Rewinds: l.rewinds}) // whose threads the gate knows; its errors are the client's going away
}

// tunnel passes lines between the process's streams and a running server.
func tunnel(ctx context.Context, p *program, address string) error {
	r, err := p.remote(address)
	if err != nil {
		return err
	}
	conn, err := dialRPC(ctx, r)
	if err != nil {
		return fmt.Errorf("--connect %s: %w", address, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	open, gone := context.WithCancel(ctx)
	in := interruptible(open, p.stdin)
	defer in.Close()
	var out sync.WaitGroup
	var outErr error
	out.Go(func() {
		defer gone()
		outErr = copyUntil(p.stdout, conn, "server")
	})
	inErr := copyUntil(conn, in, "input")
	early := open.Err() != nil // the server went first
	conn.CloseWrite()          // the answers still come
	out.Wait()
	switch {
	case ctx.Err() != nil:
		return nil
	case early:
		return fmt.Errorf("%s has ended the connection", address)
	}
	return errors.Join(inErr, outErr)
}

// rpcConn is a connection that was given over to S4.
type rpcConn struct {
	halfConn
	r io.Reader
}

// halfConn is a connection whose two directions end by themselves.
type halfConn interface {
	net.Conn
	CloseWrite() error
}

func (c *rpcConn) Read(b []byte) (int, error) { return c.r.Read(b) }

func dialRPC(ctx context.Context, r remote) (*rpcConn, error) {
	u, err := r.parse()
	if err != nil {
		return nil, err
	}
	nc, err := dial(ctx, u)
	if err != nil {
		return nil, err
	}
	c := &rpcConn{halfConn: nc.(halfConn)} // TCP's and TLS's are
	if err := c.shake(u.Host, r.token); err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

func (c *rpcConn) shake(host, token string) error {
	if err := c.SetDeadline(time.Now().Add(dialFor)); err != nil {
		return err
	}
	ask, err := http.NewRequest("GET", "http://"+host+"/rpc", nil)
	if err != nil {
		return err
	}
	ask.Header.Set("Connection", "Upgrade")
	ask.Header.Set("Upgrade", upgradeTo)
	if token != "" {
		ask.Header.Set("Authorization", "Bearer "+token)
	}
	if err := ask.Write(c.halfConn); err != nil {
		return err
	}
	r := bufio.NewReader(c.halfConn)
	resp, err := http.ReadResponse(r, ask)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		return refusal(resp.StatusCode, resp.Status, problemIn(resp.Body))
	}
	c.r = r
	return c.SetDeadline(time.Time{})
}
