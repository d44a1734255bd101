package socket

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func TestBadHandshakesGetTheStatusTheyDeserve(t *testing.T) {
	_, web := serve(t, newOwner(t), mode{}, Options{})
	for _, c := range []struct {
		old, new string
		status   int
	}{
		{"Upgrade: WebSocket\r\n", "", 426},
		{"keep-alive, Upgrade", "keep-alive", 426},
		{"HTTP/1.1", "HTTP/1.0", 426},
		{"Version: 13", "Version: 8", 426},
		{"GET", "POST", 405},
		{"dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=", 400},
		{"dGhlIHNhbXBsZSBub25jZQ==", "!", 400},
		{"Host: x\r\n", "Host: x\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", 400},
	} {
		p := dial(t, web)
		p.send([]byte(strings.Replace(hello, c.old, c.new, 1)))
		r, err := http.ReadResponse(p.br, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.StatusCode != c.status {
			t.Errorf("%q → %q is answered with %d, want %d", c.old, c.new, r.StatusCode, c.status)
		}
		if c.status == 426 && r.Header.Get("Upgrade") == "" && r.Header.Get("Sec-Websocket-Version") == "" {
			t.Errorf("%q → %q: 426 without a word about what to upgrade to", c.old, c.new)
		}
	}
}

func TestCoderClientTalksToUs(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		o.message = func(c *Conn, b []byte) { c.Write(AppendText(nil, b)) }
		_, web := serve(t, o, m, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		c, r, err := websocket.Dial(ctx, web.URL, &websocket.DialOptions{
			HTTPClient: web.Client(), Subprotocols: []string{"a", "b"}, CompressionMode: websocket.CompressionContextTakeover,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseNow()
		if c.Subprotocol() != "a" || r.Header.Get("Sec-Websocket-Extensions") != "" {
			t.Errorf("agreed on %q and extensions %q", c.Subprotocol(), r.Header.Get("Sec-Websocket-Extensions"))
		}
		for _, n := range []int{0, 1, 125, 126, 5000, 32768} {
			if err := c.Write(ctx, websocket.MessageText, []byte(long(n))); err != nil {
				t.Fatal(err)
			}
			if _, b, err := c.Read(ctx); err != nil || string(b) != long(n) {
				t.Fatalf("echo of %d bytes: %d bytes, %v", n, len(b), err)
			}
		}
		ponged := make(chan error, 1)
		go func() { ponged <- c.Ping(ctx) }()
		go c.Read(ctx)
		if err := <-ponged; err != nil {
			t.Error(err)
		}
		if err := c.Close(websocket.StatusNormalClosure, "done"); err != nil {
			t.Error(err)
		}
		o.want("closed socket: closed by peer: 1000 done")
	})
}
