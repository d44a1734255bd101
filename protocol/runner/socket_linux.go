package runner

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// maxPath is how long the name of a socket may be.
const maxPath = 100

// within calls f with a name of the socket that is short enough, however deep
// its directory is.
func within(path string, f func(path string) error) error {
	if len(path) <= maxPath {
		return f(path)
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return f("/proc/self/fd/" + strconv.Itoa(int(d.Fd())) + "/" + filepath.Base(path))
}

// DialSocket connects to the socket at a path.
func DialSocket(ctx context.Context, path string) (conn net.Conn, err error) {
	err = within(path, func(short string) error {
		conn, err = (&net.Dialer{Timeout: dialWithin}).DialContext(ctx, "unix", short)
		return err
	})
	return conn, err
}

// ListenSocket makes a socket at a path, in the place of one that is there. The
// name stays when it is closed.
func ListenSocket(path string) (l net.Listener, err error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	err = within(path, func(short string) error {
		u, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		if err == nil {
			u.SetUnlinkOnClose(false) // its name was only for the making
			l = u
		}
		return err
	})
	return l, err
}
