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
	"net/url"
	"sync"
	"time"

	"harness"
	"harness/kernel"
	"harness/protocol/rpc"
)

// upgradeTo is the name under which GET /rpc gives the connection over to S4.
const upgradeTo = "harness-rpc"

// dialFor bounds the handshake with a server on the same machine.
const dialFor = 5 * time.Second

// lines serves S4 on the connection of a request that asks for it, so that
// `harness stdio --connect` shares the live sessions of a running server. Its
// clients outlive the end of the server's ctx until shutdown, to see how the
// turns end that may still run.
type lines struct {
	ctx     context.Context // of the clients
	end     context.CancelFunc
	k       *kernel.Kernel
	log     *slog.Logger
	serving sync.WaitGroup // a taken-over connection each; http.Server waits for none
}

func newLines(ctx context.Context, k *kernel.Kernel, log *slog.Logger) *lines {
	l := &lines{k: k, log: log}
	l.ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

// shutdown ends every client and waits for it. No request comes any more.
func (l *lines) shutdown() {
	l.end()
	l.serving.Wait()
}

func (l *lines) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != upgradeTo {
		rw.Header().Set("Upgrade", upgradeTo)
		http.Error(rw, "ask for an upgrade to "+upgradeTo, http.StatusUpgradeRequired)
		return
	}
	l.serving.Add(1) // before http.Server forgets the connection
	defer l.serving.Done()
	conn, buf, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		http.Error(rw, "this connection cannot be taken over", http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	defer context.AfterFunc(l.ctx, func() { conn.Close() })()
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return
	}
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", upgradeTo); err != nil {
		return
	}
	rpc.Serve(l.ctx, l.k, buf, conn, &rpc.Options{Log: l.log, Version: release}) // its errors are the client's going away
}

// tunnel passes lines between the process's streams and a running server.
func tunnel(ctx context.Context, p *program, address string) error {
	conn, err := dialRPC(ctx, address)
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
	*net.TCPConn
	r io.Reader
}

func (c *rpcConn) Read(b []byte) (int, error) { return c.r.Read(b) }

func dialRPC(ctx context.Context, address string) (*rpcConn, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("not an http address: %w", harness.ErrInvalid)
	}
	d := net.Dialer{Timeout: dialFor}
	nc, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	c := &rpcConn{TCPConn: nc.(*net.TCPConn)}
	if err := c.shake(u.Host); err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

func (c *rpcConn) shake(host string) error {
	if err := c.SetDeadline(time.Now().Add(dialFor)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.TCPConn, "GET /rpc HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", host, upgradeTo); err != nil {
		return err
	}
	r := bufio.NewReader(c.TCPConn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	c.r = r
	return c.SetDeadline(time.Time{})
}
