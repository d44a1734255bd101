package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

// sock is the client's end of a WebSocket. One goroutine reads; anybody sends.
type sock struct {
	conn    net.Conn
	frames  chan []byte // text messages; closed at the end
	hangUp  context.CancelFunc
	reading sync.WaitGroup

	mu sync.Mutex // held while a frame is written
}

// Bounds of what we take from a server, and wait for it.
const (
	maxMessage = 64 << 20
	sendFor    = 10 * time.Second
)

// refusedWith is what a server says that refuses a socket: a problem, or a line.
func refusedWith(resp io.Reader) string {
	r, err := http.ReadResponse(bufio.NewReader(io.LimitReader(resp, maxAnswer)), nil)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	if strings.Contains(r.Header.Get("Content-Type"), "json") {
		return problemIn(r.Body)
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	if err != nil {
		return ""
	}
	return clean(strings.TrimSpace(string(text)), 200)
}

// dialSock opens the socket of a session. It shows the newest messages; who
// wants all of a long one asks for its export.
func dialSock(ctx context.Context, at remote, id string) (*sock, error) {
	u, err := at.parse()
	if err != nil {
		return nil, err
	}
	d := ws.Dialer{Timeout: dialFor}
	if at.token != "" {
		d.Header = ws.HandshakeHeaderHTTP{"Authorization": {"Bearer " + at.token}}
	}
	var why string
	d.OnStatusError = func(_ int, _ []byte, resp io.Reader) { why = refusedWith(resp) }
	conn, buffered, _, err := d.Dial(ctx, "ws"+strings.TrimPrefix(u.Scheme, "http")+"://"+u.Host+"/ws?window=64&sessionId="+url.QueryEscape(id))
	if status, ok := errors.AsType[ws.StatusError](err); ok {
		return nil, fmt.Errorf("session %s: %w", id, refusal(int(status), status.Error(), why))
	}
	if err != nil {
		return nil, err
	}
	s := &sock{conn: conn, frames: make(chan []byte, burst)}
	ctx, s.hangUp = context.WithCancel(context.WithoutCancel(ctx))
	var r io.Reader = conn
	if buffered != nil {
		r = buffered
	}
	s.reading.Go(func() {
		defer close(s.frames)
		s.read(ctx, r)
	})
	return s, nil
}

// read hands over text messages and answers what the protocol asks.
func (s *sock) read(ctx context.Context, r io.Reader) {
	var text []byte
	for {
		h, err := ws.ReadHeader(r)
		if err != nil || h.Length > maxMessage-int64(len(text)) {
			return
		}
		data := make([]byte, h.Length)
		if _, err := io.ReadFull(r, data); err != nil {
			return
		}
		switch h.OpCode {
		case ws.OpPing:
			if s.write(ws.NewPongFrame(data)) != nil {
				return
			}
		case ws.OpClose:
			s.write(ws.NewCloseFrame(data)) // whether it arrives or not, this is the end
			return
		case ws.OpText, ws.OpContinuation:
			if text = append(text, data...); !h.Fin {
				continue
			}
			select {
			case s.frames <- text:
			case <-ctx.Done():
				return
			}
			text = nil
		}
	}
}

func (s *sock) send(text []byte) error { return s.write(ws.NewTextFrame(text)) }

func (s *sock) write(f ws.Frame) error {
	b, err := ws.CompileFrame(ws.MaskFrameInPlace(f))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conn.SetWriteDeadline(time.Now().Add(sendFor)); err != nil {
		return err
	}
	_, err = s.conn.Write(b)
	return err
}

// close says goodbye and waits for the reader.
func (s *sock) close() {
	s.write(ws.NewCloseFrame(ws.NewCloseFrameBody(ws.StatusNormalClosure, ""))) // the server may be gone
	s.hangUp()
	s.conn.Close()
	s.reading.Wait()
}
