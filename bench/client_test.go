package bench

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// client is one blocking WebSocket client in this process.
type client struct {
	tb  testing.TB
	fd  int
	buf []byte // read and not used
}

func dial(tb testing.TB, addr, path string) *client {
	tb.Helper()
	return dialAs(tb, addr, path, "")
}

func dialAs(tb testing.TB, addr, path, token string) *client {
	tb.Helper()
	fd, err := handshake(addr, path, token, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return &client{tb: tb, fd: fd}
}

func (c *client) close() { unix.Close(c.fd) }

func (c *client) send(text string) {
	if _, err := unix.Write(c.fd, maskedText(text)); err != nil {
		c.tb.Fatal(err)
	}
}

// frame reads one frame and returns its payload.
func (c *client) frame() []byte {
	c.need(2)
	header, n := 2, int(c.buf[1])
	switch n {
	case 126:
		c.need(4)
		header, n = 4, int(binary.BigEndian.Uint16(c.buf[2:]))
	case 127:
		c.need(10)
		header, n = 10, int(binary.BigEndian.Uint64(c.buf[2:]))
	}
	c.need(header + n)
	p := c.buf[header : header+n]
	c.buf = c.buf[header+n:]
	return p
}

func (c *client) need(n int) {
	for len(c.buf) < n {
		if cap(c.buf)-len(c.buf) < 16<<10 {
			c.buf = append(make([]byte, 0, max(2*cap(c.buf), n+64<<10)), c.buf...)
		}
		got, err := unix.Read(c.fd, c.buf[len(c.buf):cap(c.buf)])
		if err == unix.EINTR {
			continue
		}
		if err != nil || got <= 0 {
			c.tb.Fatal(fmt.Errorf("read: %w", os.ErrClosed))
		}
		c.buf = c.buf[:len(c.buf)+got]
	}
}
