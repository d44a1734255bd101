package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
)

// errSeen ends a handshake that was only looked at.
var errSeen = errors.New("seen")

// readHello reads the first message of a TLS client from r, behind what c has,
// and returns it with the server name in it; an empty name if it is anything
// else. A server that is shared by many names must be asked for the right one.
func readHello(ctx context.Context, c net.Conn, r io.Reader) (read []byte, name string) {
	var seen bytes.Buffer
	look := tls.Server(onlyRead{c, io.TeeReader(r, &seen)}, &tls.Config{
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			name = lowerASCII(h.ServerName)
			return nil, errSeen
		},
	})
	_ = look.HandshakeContext(ctx) // it always fails
	return seen.Bytes(), name
}

// onlyRead is a connection on which nothing is written and that stays open.
type onlyRead struct {
	net.Conn
	r io.Reader
}

func (c onlyRead) Read(b []byte) (int, error)  { return c.r.Read(b) }
func (c onlyRead) Write(b []byte) (int, error) { return len(b), nil }
func (c onlyRead) Close() error                { return nil }
