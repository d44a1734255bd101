package delta_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
)

// raw is a client that reads exactly what a test lets it read: no goroutine,
// and a receive buffer as small as it asks for.
type raw struct {
	t  testing.TB
	nc net.Conn
	br *bufio.Reader
}

// raw connects and reads nothing behind the handshake. buffer is the size of
// the socket's receive buffer, 0 for the system's.
func (s *server) raw(query string, buffer int) *raw {
	s.t.Helper()
	addr, _, _ := strings.Cut(strings.TrimPrefix(s.url, "ws://"), "/")
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { nc.Close() })
	if buffer > 0 {
		if err := nc.(*net.TCPConn).SetReadBuffer(buffer); err != nil {
			s.t.Fatal(err)
		}
	}
	nc.SetDeadline(time.Now().Add(3 * patience)) // a whole test
	fmt.Fprintf(nc, "GET /ws%s HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", query)
	r := &raw{s.t, nc, bufio.NewReaderSize(nc, 512)}
	resp, err := http.ReadResponse(r.br, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		s.t.Fatalf("handshake: %v %v", resp, err)
	}
	return r
}

// next is one whole frame.
func (r *raw) next() (ws.Header, []byte, error) {
	h, err := ws.ReadHeader(r.br)
	if err != nil {
		return h, nil, err
	}
	b := make([]byte, h.Length)
	_, err = io.ReadFull(r.br, b)
	return h, b, err
}

// text is the payload of the next text frame.
func (r *raw) text() []byte {
	r.t.Helper()
	r.nc.SetReadDeadline(time.Now().Add(patience))
	for {
		h, b, err := r.next()
		if err != nil {
			r.t.Fatalf("read: %v", err)
		}
		if h.OpCode == ws.OpText {
			return b
		}
	}
}

func (r *raw) send(op ws.OpCode, payload []byte) error {
	return ws.WriteFrame(r.nc, ws.MaskFrame(ws.NewFrame(op, true, payload)))
}

// client is a client of S0 fed with what r reads.
func (r *raw) client() *client { return &client{t: r.t, acks: map[string]uint64{}} }

// longText is a word of 1 kB.
var longText = strings.Repeat("0123456789abcdef", 64)
