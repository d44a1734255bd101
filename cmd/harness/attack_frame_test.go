package main

import (
	"bufio"
	network "encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// wsFrame is a WebSocket frame as a client, or nobody, would send it.
func wsFrame(first byte, masked bool, payload string) []byte {
	b := []byte{first, 0}
	switch n := len(payload); {
	case n < 126:
		b[1] = byte(n)
	case n < 1<<16:
		b[1] = 126
		b = network.BigEndian.AppendUint16(b, uint16(n))
	default:
		b[1] = 127
		b = network.BigEndian.AppendUint64(b, uint64(n))
	}
	if !masked {
		return append(b, payload...)
	}
	b[1] |= 0x80
	key := [4]byte{1, 2, 3, 4}
	b = append(b, key[:]...)
	for i := range len(payload) {
		b = append(b, payload[i]^key[i%4])
	}
	return b
}

// rawSocket is a WebSocket whose frames the test writes itself.
type rawSocket struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func (h *house) rawSocket(t testing.TB, as, path string) *rawSocket {
	t.Helper()
	c, err := h.stranger().Dial("tcp", h.host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n", path, h.host, h.tokens[as])
	s := &rawSocket{t, c, bufio.NewReader(c)}
	resp, err := http.ReadResponse(s.r, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatalf("upgrade: %v, %v", resp, err)
	}
	if e := resp.Header.Get("Sec-WebSocket-Extensions"); e != "" {
		t.Errorf("the server agreed to %s: a small message could become a large one", e)
	}
	return s
}

func (s *rawSocket) write(b []byte) {
	s.t.Helper()
	if !s.try(b) {
		s.t.Error("the server does not read")
	}
}

// try reports whether the server took it.
func (s *rawSocket) try(b []byte) bool {
	s.conn.SetDeadline(time.Now().Add(patience))
	_, err := s.conn.Write(b)
	return err == nil
}

// until reads frames until one satisfies a condition.
func (s *rawSocket) until(what string, cond func(op byte, payload []byte) bool) (byte, []byte) {
	s.t.Helper()
	for {
		var head [2]byte
		if _, err := io.ReadFull(s.r, head[:]); err != nil {
			s.t.Errorf("waiting for %s: %v", what, err)
			return 0, nil
		}
		n := uint64(head[1])
		switch n {
		case 126:
			var b [2]byte
			io.ReadFull(s.r, b[:])
			n = uint64(network.BigEndian.Uint16(b[:]))
		case 127:
			var b [8]byte
			io.ReadFull(s.r, b[:])
			n = network.BigEndian.Uint64(b[:])
		}
		payload := make([]byte, n)
		if _, err := io.ReadFull(s.r, payload); err != nil {
			s.t.Errorf("waiting for %s: %v", what, err)
			return 0, nil
		}
		if op := head[0] & 0xf; op != 9 && cond(op, payload) {
			return op, payload
		}
	}
}
