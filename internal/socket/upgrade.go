package socket

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	acceptGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" // RFC 6455, 1.3

	// answerFor bounds the write of the handshake's answer, a few hundred
	// bytes into an empty socket buffer.
	answerFor = 5 * time.Second
)

// Subprotocols are the names the client offers, in its order.
func Subprotocols(r *http.Request) []string {
	return tokens(r.Header, "Sec-Websocket-Protocol")
}

// Upgrade turns a request into a connection. A bad handshake is answered with
// the HTTP status it deserves and returned as an error; so is a server that is
// shutting down. No Handler call is made then.
//
// subprotocol is one of Subprotocols(r), or empty. No extension is ever
// agreed on. Headers set on w before are part of the answer. Messages that
// came in the same packet as the handshake are handled before Upgrade returns.
func (s *Server) Upgrade(w http.ResponseWriter, r *http.Request, subprotocol string, tag any) (*Conn, error) {
	if status, err := checkHandshake(w.Header(), r, subprotocol); err != nil {
		http.Error(w, err.Error(), status)
		return nil, fmt.Errorf("upgrade: %w", err)
	}
	if s.isDraining() {
		http.Error(w, "the server is shutting down", http.StatusServiceUnavailable)
		return nil, fmt.Errorf("upgrade: %w", ErrClosed)
	}
	nc, early, err := hijack(w)
	if err != nil {
		return nil, fmt.Errorf("upgrade: %w", err)
	}
	c := s.conn(tag)
	if err := c.connect(nc, answer(w.Header(), r, subprotocol)); err != nil {
		nc.Close()
		return nil, fmt.Errorf("upgrade: %w", err)
	}
	if !c.open() {
		return nil, fmt.Errorf("upgrade: %w", ErrClosed)
	}
	if c.held != nil {
		s.feed(c, early)
		s.wg.Go(c.held.run)
	} else {
		c.park(early)
	}
	return c, nil
}

// conn is a connection that has no socket yet.
func (s *Server) conn(tag any) *Conn {
	return &Conn{srv: s, tag: tag, fd: -1, opening: true, busy: true, heard: s.now()}
}

// open gives c its row and tells the owner, or turns c away if Shutdown came
// first.
func (c *Conn) open() bool {
	if !c.srv.admit(c) {
		c.turnAway()
		return false
	}
	c.srv.owner.Opened(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opening = false
	c.tell()
	return true
}

// connect sends the answer and takes nc over.
func (c *Conn) connect(nc net.Conn, answer []byte) error {
	nc.SetWriteDeadline(time.Now().Add(answerFor))
	if _, err := nc.Write(answer); err != nil {
		return err
	}
	nc.SetWriteDeadline(time.Time{})
	if c.srv.poller != nil {
		fd, ok, err := detach(nc)
		if ok {
			c.fd = fd
			return err
		}
	}
	c.held = newHeld(c, nc)
	return nil
}

// turnAway ends a connection that got no row because Shutdown came first.
func (c *Conn) turnAway() {
	bye := c.srv.goodbye(nil, codeGoingAway, "server is shutting down")
	if c.held != nil {
		c.held.nc.SetDeadline(time.Now().Add(answerFor))
		c.held.nc.Write(bye)
		c.held.hangUp()
		return
	}
	if len(bye) > 0 {
		sendFD(c.fd, bye)
	}
	closeFD(c.fd, false)
}

// park leaves c to the poller and the workers.
func (c *Conn) park(early []byte) {
	c.mu.Lock()
	if c.state != gone { // Opened may have closed it
		if err := c.srv.poller.watch(c); err != nil {
			c.end(err, codeTryLater, "cannot hold the connection")
		}
	}
	c.mu.Unlock()
	c.srv.feed(c, early)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
	if c.more || c.hangup || c.state != open {
		c.wake()
	}
}

// checkHandshake returns the status for a request that cannot be upgraded.
func checkHandshake(answer http.Header, r *http.Request, subprotocol string) (int, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(r.Header.Get("Sec-Websocket-Key")))
	switch {
	case r.ProtoMajor != 1 || r.ProtoMinor < 1,
		!hasToken(r.Header, "Connection", "upgrade"),
		!hasToken(r.Header, "Upgrade", "websocket"):
		answer.Set("Connection", "Upgrade")
		answer.Set("Upgrade", "websocket")
		return http.StatusUpgradeRequired, errors.New("this address speaks WebSocket over HTTP/1.1")
	case r.Method != http.MethodGet:
		answer.Set("Allow", http.MethodGet)
		return http.StatusMethodNotAllowed, errors.New("a WebSocket handshake is a GET request")
	case r.Header.Get("Sec-Websocket-Version") != "13":
		answer.Set("Sec-Websocket-Version", "13")
		return http.StatusUpgradeRequired, errors.New("unsupported WebSocket version, 13 is supported")
	case len(r.Header.Values("Sec-Websocket-Key")) != 1 || err != nil || len(key) != 16:
		return http.StatusBadRequest, errors.New("Sec-WebSocket-Key must be there once and be 16 bytes in base64")
	case subprotocol != "" && !slices.Contains(Subprotocols(r), subprotocol):
		return http.StatusBadRequest, fmt.Errorf("subprotocol %q is not offered", subprotocol)
	}
	return 0, nil
}

// hijack takes the connection from net/http, with the bytes it has read ahead.
func hijack(w http.ResponseWriter) (net.Conn, []byte, error) {
	nc, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "this server cannot upgrade connections", http.StatusNotImplemented)
		return nil, nil, err
	}
	early, err := rw.Reader.Peek(rw.Reader.Buffered())
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return nc, early, nil
}

func answer(extra http.Header, r *http.Request, subprotocol string) []byte {
	sum := sha1.Sum([]byte(strings.TrimSpace(r.Header.Get("Sec-Websocket-Key")) + acceptGUID))
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ")
	b.WriteString(base64.StdEncoding.EncodeToString(sum[:]))
	if subprotocol != "" {
		b.WriteString("\r\nSec-WebSocket-Protocol: " + subprotocol)
	}
	b.WriteString("\r\n")
	extra.Write(&b) // to memory: no error
	b.WriteString("\r\n")
	return b.Bytes()
}

func hasToken(h http.Header, key, token string) bool {
	return slices.ContainsFunc(tokens(h, key), func(t string) bool { return strings.EqualFold(t, token) })
}

func tokens(h http.Header, key string) []string {
	var all []string
	for _, line := range h[key] {
		for t := range strings.SplitSeq(line, ",") {
			if t = strings.TrimSpace(t); t != "" {
				all = append(all, t)
			}
		}
	}
	return all
}
