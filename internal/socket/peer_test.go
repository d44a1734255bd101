package socket

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
)

// patience is how long a test waits for something that must happen.
const patience = 20 * time.Second

// owner is a Handler that tells what it was called with, one line per call.
type owner struct {
	t     testing.TB
	calls chan string
	conns chan *Conn

	message  func(*Conn, []byte)
	writable func(*Conn)
}

func newOwner(t testing.TB) *owner {
	return &owner{t: t, calls: make(chan string, 1024), conns: make(chan *Conn, 1024)}
}

func (o *owner) Opened(c *Conn) { o.conns <- c }

func (o *owner) Message(c *Conn, text []byte) {
	if o.message != nil {
		o.message(c, text)
		return
	}
	o.calls <- "text " + digest(text)
}

func (o *owner) Refused(c *Conn, r Refusal) {
	o.calls <- fmt.Sprintf("refused %d binary=%v", r.Size, r.Binary)
}

func (o *owner) Writable(c *Conn) {
	if o.writable != nil {
		o.writable(c)
	}
}

func (o *owner) Closed(c *Conn, err error) { o.calls <- "closed " + err.Error() }

func (o *owner) want(lines ...string) {
	o.t.Helper()
	for _, w := range lines {
		if got := receive(o.t, o.calls, "call "+w); got != w {
			o.t.Fatalf("owner was called with %q, want %q", got, w)
		}
	}
}

func digest(text []byte) string {
	if len(text) > 40 {
		return fmt.Sprintf("%s… (%d bytes)", text[:8], len(text))
	}
	return string(text)
}

func receive[T any](t testing.TB, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s within %v", what, patience)
		panic("unreachable")
	}
}

// mode is a way to carry a connection; all must behave the same.
type mode struct {
	name   string
	noPark bool
	tls    bool

	http2, wrapped bool // of streams only
}

var modes = []mode{{name: "parked"}, {name: "held", noPark: true}, {name: "tls", tls: true}}

func eachMode(t *testing.T, f func(t *testing.T, m mode)) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) { f(t, m) })
	}
}

// serve starts a server for o and shuts it down with the test.
func serve(t testing.TB, o Handler, m mode, opts Options) (*Server, *httptest.Server) {
	t.Helper()
	opts.NoPark = m.noPark
	s, err := New(o, &opts)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sub := ""
		if offered := Subprotocols(r); len(offered) > 0 {
			sub = offered[0]
		}
		s.Upgrade(w, r, sub, r.URL.Query().Get("tag"))
	}))
	if m.tls {
		web.StartTLS()
	} else {
		web.Start()
	}
	t.Cleanup(func() {
		web.Close()
		if !s.isDraining() {
			s.Shutdown(t.Context()) // which has ended: peers are not waited for
		}
	})
	return s, web
}

// peer is a client that sends exactly the bytes it is told to.
type peer struct {
	t testing.TB
	net.Conn
	br *bufio.Reader
}

const hello = "GET /?tag=row HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

func connect(t testing.TB, web *httptest.Server, early ...byte) *peer {
	t.Helper()
	p := dial(t, web)
	p.send(append([]byte(hello), early...))
	head, err := http.ReadResponse(p.br, nil)
	if err != nil {
		t.Fatal(err)
	}
	if head.StatusCode != 101 || head.Header.Get("Sec-Websocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Fatalf("handshake answered with %d %v", head.StatusCode, head.Header)
	}
	return p
}

func dial(t testing.TB, web *httptest.Server) *peer {
	t.Helper()
	nc, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if web.TLS != nil {
		nc = tlsClient(nc, web)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(2 * patience))
	return &peer{t: t, Conn: nc, br: bufio.NewReader(nc)}
}

func (p *peer) send(b []byte) {
	p.t.Helper()
	if _, err := p.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

// frame reads the server's next frame.
func (p *peer) frame() (ws.OpCode, []byte) {
	p.t.Helper()
	f, err := ws.ReadFrame(p.br)
	if err != nil {
		p.t.Fatalf("read frame: %v", err)
	}
	if f.Header.Masked || !f.Header.Fin || f.Header.Rsv != 0 {
		p.t.Fatalf("server sent header %+v", f.Header)
	}
	return f.Header.OpCode, f.Payload
}

// wantAlive checks that the connection still answers.
func (p *peer) wantAlive() {
	p.t.Helper()
	p.send(client(ws.OpPing, true, "alive?"))
	if op, b := p.frame(); op != ws.OpPong || string(b) != "alive?" {
		p.t.Fatalf("ping answered with opcode %d %q", op, b)
	}
}

// wantClose checks that the server ends with this code, and then the stream.
func (p *peer) wantClose(code uint16) {
	p.t.Helper()
	op, b := p.frame()
	got := uint16(codeNone)
	if len(b) >= 2 {
		got = binary.BigEndian.Uint16(b)
	}
	if op != ws.OpClose || got != code {
		p.t.Fatalf("got opcode %d %q, want close %d", op, b, code)
	}
	if b, err := io.ReadAll(p.br); err != nil || len(b) > 0 {
		p.t.Fatalf("after the close frame: %d bytes, %v; want the end", len(b), err)
	}
}

// client is a frame as a client sends it.
func client(op ws.OpCode, fin bool, payload string) []byte {
	f := ws.NewFrame(op, fin, []byte(payload))
	return ws.MustCompileFrame(ws.MaskFrameWith(f, [4]byte{0x12, 0x9a, 0x56, 0xf8}))
}

func join(frames ...[]byte) []byte {
	var all []byte
	for _, f := range frames {
		all = append(all, f...)
	}
	return all
}

func text(s string) []byte { return client(ws.OpText, true, s) }

func long(n int) string { return strings.Repeat("x", n) }

// until waits for a condition that must come true.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline, look := time.After(patience), time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
