//go:build !linux

package socket

import (
	"errors"
	"net"
)

// Without epoll every connection is held; none of these is reached with a
// descriptor.

var errAgain = errors.ErrUnsupported

type poller struct{}

func newPoller() (*poller, error) { return nil, nil }

func (*poller) close()            {}
func (*poller) run(*Server)       {}
func (*poller) watch(*Conn) error { return errors.ErrUnsupported }

func detach(net.Conn) (int32, bool, error) { return -1, false, nil }
func sendFD(int32, []byte) (int, error)    { return 0, errors.ErrUnsupported }
func recvFD(int32, []byte) (int, error)    { return 0, errors.ErrUnsupported }
func closeFD(int32, bool)                  {}
func shutdownFD(int32)                     {}
func unsentFD(int32) uint32                { return 0 }
