//go:build !linux

package runner

import (
	"context"
	"net"
	"os"
)

// DialSocket connects to the socket at a path.
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialWithin}).DialContext(ctx, "unix", path)
}

// ListenSocket makes a socket at a path, in the place of one that is there. The
// name stays when it is closed.
func ListenSocket(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	return l, nil
}
