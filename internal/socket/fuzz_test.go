package socket

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// transcript is what our parser makes of a client's bytes that come in pieces
// of this size: the messages, and the code it fails with (0: none; 1: the peer
// closed).
func transcript(b []byte, size int, limit, skip int64) (said []string, fail uint16) {
	p := &parser{limit: limit, skip: skip}
	b = bytes.Clone(b)
	for len(b) > 0 {
		piece := b[:min(size, len(b))]
		b = b[len(piece):]
		for {
			ev, rest, failed := p.next(piece)
			piece = rest
			if failed != nil {
				return said, failed.Code
			}
			if ev.what == nothing {
				break
			}
			switch ev.what {
			case message:
				said = append(said, "text "+string(ev.payload))
			case refused:
				said = append(said, fmt.Sprintf("refused %d binary=%v", ev.refusal.Size, ev.refusal.Binary))
			case closed:
				return said, 1
			}
		}
	}
	return said, 0
}

// oracle is what coder/websocket makes of the same bytes, in our words. It
// does not check UTF-8, so that is done here.
func oracle(t *testing.T, b []byte, limit int64) (said []string, fail uint16) {
	c, err := websocket.Accept(&onceHijacked{conn: &canned{Reader: bytes.NewReader(b)}}, handshake(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	c.SetReadLimit(-1)
	for {
		typ, b, err := c.Read(context.Background())
		switch {
		case websocket.CloseStatus(err) != -1:
			if !utf8.ValidString(reason(err)) {
				return said, codeText
			}
			return said, 1
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return said, 0
		case err != nil:
			return said, codeProtocol
		case typ == websocket.MessageBinary:
			said = append(said, fmt.Sprintf("refused %d binary=true", len(b)))
		case int64(len(b)) > limit:
			said = append(said, fmt.Sprintf("refused %d binary=false", len(b)))
		case !utf8.Valid(b):
			return said, codeText
		default:
			said = append(said, "text "+string(b))
		}
	}
}

func reason(err error) string {
	var ce websocket.CloseError
	errors.As(err, &ce)
	return ce.Reason
}

// FuzzFrames: any bytes give the same messages and the same kind of end as
// coder/websocket's, whatever pieces they come in.
func FuzzFrames(f *testing.F) {
	for _, c := range conformance {
		if len(c.send) < 2000 {
			f.Add(c.send, uint8(3))
		}
	}
	f.Add([]byte{0x30, 0xff, 0x80, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30}, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		const limit = 300
		want, wantFail := oracle(t, b, limit)
		got, gotFail := transcript(b, int(size)+1, limit, math.MaxInt64)
		if gotFail == 0 && wantFail != 0 {
			// The oracle may fail on part of a header; we wait for the whole.
			b = append(b, make([]byte, 14)...)
			want, wantFail = oracle(t, b, limit)
			got, gotFail = transcript(b, int(size)+1, limit, math.MaxInt64)
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) || gotFail != wantFail {
			t.Fatalf("bytes %x in pieces of %d\n got %q %d\nwant %q %d", b, int(size)+1, got, gotFail, want, wantFail)
		}
	})
}

func handshake(t *testing.T) *http.Request {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader([]byte(hello))))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// canned is a connection whose peer has said everything already.
type canned struct {
	*bytes.Reader
}

// Read ends with ErrUnexpectedEOF: coder/websocket takes an EOF right behind a
// header for the end of the message.
func (c *canned) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (*canned) Write(p []byte) (int, error)      { return len(p), nil }
func (*canned) Close() error                     { return nil }
func (*canned) LocalAddr() net.Addr              { return nil }
func (*canned) RemoteAddr() net.Addr             { return nil }
func (*canned) SetDeadline(time.Time) error      { return nil }
func (*canned) SetReadDeadline(time.Time) error  { return nil }
func (*canned) SetWriteDeadline(time.Time) error { return nil }

type onceHijacked struct {
	conn net.Conn
	head http.Header
}

func (h *onceHijacked) Header() http.Header {
	if h.head == nil {
		h.head = http.Header{}
	}
	return h.head
}
func (*onceHijacked) Write(p []byte) (int, error) { return len(p), nil }
func (*onceHijacked) WriteHeader(int)             {}
func (h *onceHijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}
