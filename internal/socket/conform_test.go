package socket

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gobwas/ws"
)

func tlsClient(nc net.Conn, web *httptest.Server) net.Conn {
	cfg := web.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	cfg.ServerName = "example.com"
	cfg.NextProtos = []string{"http/1.1"}
	return tls.Client(nc, cfg)
}

const big, skip = 70_000, 200_000 // the limits of this test

// conformance is what the server must do with bytes, by section of RFC 6455.
var conformance = []struct {
	name  string
	send  []byte
	calls []string
	close uint16 // 0: the connection lives
}{
	{"5.2 lengths at every header size", join(text(""), text(long(125)), text(long(126)), text(long(65535)), text(long(65536))),
		[]string{"text ", "text xxxxxxxx… (125 bytes)", "text xxxxxxxx… (126 bytes)", "text xxxxxxxx… (65535 bytes)", "text xxxxxxxx… (65536 bytes)"}, 0},
	{"5.2 length of 8 bytes with the top bit", []byte{0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, nil, 1002},
	{"5.2 reserved bit", append([]byte{0xc1}, text("x")[1:]...), nil, 1002},
	{"5.2 reserved data opcode", client(3, true, ""), nil, 1002},
	{"5.2 reserved control opcode", client(11, true, ""), nil, 1002},
	{"5.1 unmasked frame", ws.MustCompileFrame(ws.NewTextFrame([]byte("x"))), nil, 1002},
	{"5.3 zero mask", ws.MustCompileFrame(ws.MaskFrameWith(ws.NewTextFrame([]byte("plain")), [4]byte{})), []string{"text plain"}, 0},
	{"5.4 fragments", join(client(ws.OpText, false, "one "), client(ws.OpContinuation, false, "two "), client(ws.OpContinuation, true, "three")),
		[]string{"text one two three"}, 0},
	{"5.4 empty fragments", join(client(ws.OpText, false, ""), client(ws.OpContinuation, false, ""), client(ws.OpContinuation, true, "")), []string{"text "}, 0},
	{"5.4 fragment in the middle of a code point", join(client(ws.OpText, false, "\xe2\x82"), client(ws.OpContinuation, true, "\xac")), []string{"text €"}, 0},
	{"5.4 continuation of nothing", client(ws.OpContinuation, true, "x"), nil, 1002},
	{"5.4 new message inside another", join(client(ws.OpText, false, "x"), text("y")), nil, 1002},
	{"5.4 pong between fragments", join(client(ws.OpText, false, "a"), client(ws.OpPong, true, "noise"), client(ws.OpContinuation, true, "b")), []string{"text ab"}, 0},
	{"5.5 control frame of 126 bytes", client(ws.OpPing, true, long(126)), nil, 1002},
	{"5.5 fragmented control frame", client(ws.OpPing, false, "x"), nil, 1002},
	{"5.5.1 close without code", client(ws.OpClose, true, ""), []string{"closed socket: closed by peer: 1005 "}, 1005},
	{"5.5.1 close with code and reason", client(ws.OpClose, true, "\x03\xe8bye"), []string{"closed socket: closed by peer: 1000 bye"}, 1000},
	{"5.5.1 nothing is read after a close", join(client(ws.OpClose, true, "\x03\xe8"), text("late")), []string{"closed socket: closed by peer: 1000 "}, 1000},
	{"5.5.1 close between fragments", join(client(ws.OpText, false, "a"), client(ws.OpClose, true, "\x0f\xa0")), []string{"closed socket: closed by peer: 4000 "}, 4000},
	{"5.5.1 half a close code", client(ws.OpClose, true, "\x03"), nil, 1002},
	{"7.4 close code that must not be sent", client(ws.OpClose, true, "\x03\xed"), nil, 1002},
	{"7.4 close code out of range", client(ws.OpClose, true, "\x13\x88"), nil, 1002},
	{"7.4 close code registered later", client(ws.OpClose, true, "\x03\xf6"), []string{"closed socket: closed by peer: 1014 "}, 1014},
	{"8.1 close reason that is not UTF-8", client(ws.OpClose, true, "\x03\xe8\xff"), nil, 1007},
	{"8.1 text that is not UTF-8", text("\xff"), nil, 1007},
	{"8.1 text that ends inside a code point", text("\xe2\x82"), nil, 1007},
	{"8.1 surrogate in text", text("\xed\xa0\x80"), nil, 1007},
	{"binary is refused and the connection lives", join(client(ws.OpBinary, true, "\xff\xfe"), text("next")), []string{"refused 2 binary=true", "text next"}, 0},
	{"largest message", text(long(big)), []string{"text xxxxxxxx… (70000 bytes)"}, 0},
	{"message one byte too big is skipped", join(text(long(big+1)), text("next")), []string{"refused 70001 binary=false", "text next"}, 0},
	{"fragments too big together are skipped", join(client(ws.OpText, false, long(big)), client(ws.OpContinuation, false, "x"), client(ws.OpContinuation, true, "y"), text("next")),
		[]string{"refused 70002 binary=false", "text next"}, 0},
	{"message too big to skip", text(long(skip + 1))[:14], nil, 1009},
	{"fragments too big to skip", join(client(ws.OpText, false, long(skip)), client(ws.OpContinuation, false, "x")), nil, 1009},
	{"length near the end of the number range", []byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4}, nil, 1009},
}

func TestBytesMeanTheSameHoweverTheyAreCarried(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		for _, c := range conformance {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				o := newOwner(t)
				_, web := serve(t, o, m, Options{MaxMessage: big, MaxSkip: skip})
				p := connect(t, web)
				p.send(c.send)
				o.want(c.calls...)
				if c.close == 0 {
					p.wantAlive()
					return
				}
				p.wantClose(c.close)
				if c.calls == nil {
					if got := receive(t, o.calls, "Closed"); got[:len("closed socket: closed by server: ")+4] != fmt.Sprintf("closed socket: closed by server: %d", c.close) {
						t.Errorf("owner heard %q, want code %d", got, c.close)
					}
				}
			})
		}
	})
}

func TestBytesMeanTheSameInAnyPieces(t *testing.T) {
	for _, c := range conformance {
		if len(c.send) > 2000 {
			continue // covered by the fuzz target; quadratic here
		}
		whole, fail := transcript(c.send, len(c.send), big, skip)
		for size := 1; size < min(len(c.send), 40); size++ {
			got, gotFail := transcript(c.send, size, big, skip)
			if fmt.Sprint(got) != fmt.Sprint(whole) || gotFail != fail {
				t.Errorf("%s in pieces of %d: %q %d, whole: %q %d", c.name, size, got, gotFail, whole, fail)
			}
		}
	}
}

func TestMessagesInTheHandshakePacketAreHandled(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		o := newOwner(t)
		_, web := serve(t, o, m, Options{})
		b := join(text("early"), text("cut"))
		p := connect(t, web, b[:len(b)-2]...)
		o.want("text early")
		p.send(b[len(b)-2:])
		o.want("text cut")
		if tag := receive(t, o.conns, "Opened").Tag(); tag != "row" {
			t.Errorf("tag is %v, want row", tag)
		}
	})
}

func TestIncompleteMessagesShareABudget(t *testing.T) {
	o := newOwner(t)
	s, web := serve(t, o, mode{}, Options{MaxPartial: 50_000})
	first, second := connect(t, web), connect(t, web)
	part := client(ws.OpText, false, long(40_000))
	first.send(part)
	first.wantAlive() // the part has been taken in
	second.send(join(part, client(ws.OpContinuation, true, "end"), text("next")))
	o.want("refused 40003 binary=false", "text next")
	first.send(client(ws.OpContinuation, true, "end"))
	o.want("text xxxxxxxx… (40003 bytes)")
	second.send(join(part, client(ws.OpContinuation, true, "again")))
	o.want("text xxxxxxxx… (40005 bytes)")
	until(t, "budget whole again", func() bool {
		p := s.parsers.New().(*parser)
		return p.budget.left.Load() == 50_000
	})
}
