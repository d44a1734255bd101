package socket

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// notSentLowWater stops the kernel from taking bytes that it cannot send
	// yet: what waits in its buffer is stale by the time it leaves. 16 kB keep
	// a fast line busy between two wake-ups.
	notSentLowWater = 16 << 10

	// A peer whose machine vanished is found by the kernel after
	// keepAliveIdle + keepAliveCount × keepAliveEvery = 2 minutes, with no
	// work here.
	keepAliveIdle, keepAliveEvery, keepAliveCount = 60, 15, 4
)

const errAgain = unix.EAGAIN

// A poller waits for all parked descriptors in an epoll set of its own. The
// set's descriptor is itself in the runtime's poller, so that waiting takes a
// goroutine and no thread, and closing it ends the wait.
type poller struct {
	file *os.File
	raw  syscall.RawConn
	fd   int
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create epoll set: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // makes NewFile use the runtime's poller
		unix.Close(fd)
		return nil, fmt.Errorf("prepare epoll set: %w", err)
	}
	file := os.NewFile(uintptr(fd), "epoll")
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("wait for epoll set: %w", err)
	}
	return &poller{file: file, raw: raw, fd: fd}, nil
}

func (p *poller) close() { p.file.Close() }

// run passes events on until the poller is closed. A late event may meet a
// slot that has a new connection by then; it does no harm there, because all
// it makes anybody do is look.
func (p *poller) run(s *Server) {
	var events [128]unix.EpollEvent
	for {
		n := 0
		err := p.raw.Read(func(fd uintptr) bool {
			var err error
			n, err = unix.EpollWait(int(fd), events[:], 0)
			return n > 0 || err != nil && err != unix.EINTR
		})
		if err != nil {
			return
		}
		for _, e := range events[:max(n, 0)] {
			c := s.row(e.Fd)
			if c == nil {
				continue
			}
			if e.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
				c.readable(e.Events&^(unix.EPOLLIN|unix.EPOLLOUT) != 0)
			}
			if e.Events&unix.EPOLLOUT != 0 {
				c.writable()
			}
		}
	}
}

// readable has a worker read from c.
func (c *Conn) readable(hangup bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == gone {
		return
	}
	c.hangup = c.hangup || hangup
	c.wake()
}

// watch puts c's descriptor into the set, edge-triggered and for good: what
// is ready now is reported too, and no later call changes the entry. Closing
// the descriptor removes it.
func (p *poller) watch(c *Conn) error {
	err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, int(c.fd), &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET,
		Fd:     int32(c.slot),
	})
	if err != nil {
		return fmt.Errorf("park connection: %w", err)
	}
	return nil
}

// detach takes the descriptor out of a TCP connection and gives the net.Conn,
// with its 0.9 kB, up. ok is false if nc is something else.
func detach(nc net.Conn) (fd int32, ok bool, err error) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return -1, false, nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return -1, true, fmt.Errorf("detach connection: %w", err)
	}
	dup := -1
	ctlErr := raw.Control(func(fd uintptr) {
		dup, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	})
	if ctlErr != nil {
		err = ctlErr
	}
	if err != nil {
		return -1, true, fmt.Errorf("detach connection: %w", err)
	}
	tcp.Close()
	for _, o := range []struct{ level, name, value int }{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1}, // frames are whole thoughts, merged above
		{unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, notSentLowWater},
		{unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, keepAliveIdle},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, keepAliveEvery},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, keepAliveCount},
	} {
		if err := unix.SetsockoptInt(dup, o.level, o.name, o.value); err != nil {
			unix.Close(dup)
			return -1, true, fmt.Errorf("set socket option %d of level %d: %w", o.name, o.level, err)
		}
	}
	return int32(dup), true, nil
}

// sendFD and recvFD go to the kernel without telling the scheduler, which
// costs what the same call costs in C. They hold the processor for the ten
// microseconds of one copy; MSG_DONTWAIT keeps them from ever waiting,
// whatever the descriptor's flags are.

// sendFD writes what the socket takes now; a full socket takes 0 bytes.
func sendFD(fd int32, p []byte) (int, error) {
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch e {
		case 0:
			return int(n), nil
		case unix.EAGAIN:
			return 0, nil
		case unix.EINTR:
		default:
			return 0, e
		}
	}
}

// recvFD reads what is there, or returns errAgain.
func recvFD(fd int32, p []byte) (int, error) {
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)),
			unix.MSG_DONTWAIT, 0, 0)
		switch e {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, e
		}
	}
}

// closeFD gives fd up. reset also throws away what the kernel still holds for
// a peer that does not take it.
func closeFD(fd int32, reset bool) {
	if reset {
		unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	unix.Close(int(fd))
}

func shutdownFD(fd int32) { unix.Shutdown(int(fd), unix.SHUT_WR) }

// unsentFD is the number of bytes the peer has not acknowledged.
func unsentFD(fd int32) uint32 {
	n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
	if err != nil {
		return 0
	}
	return uint32(n)
}
