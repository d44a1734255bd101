package rest

import "syscall"

// smallBuffer makes a socket that holds little of what its reader leaves.
func smallBuffer(size int) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) (err error) {
		ctl := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, size) })
		if ctl != nil {
			return ctl
		}
		return err
	}
}
