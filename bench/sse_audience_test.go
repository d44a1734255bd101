package bench

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// audience is many readers of event streams in one thread: it counts the ends
// of events and looks at nothing else.
type audience struct {
	epoll int

	mu    sync.Mutex // guards what follows
	cond  *sync.Cond
	seats []*seat
	byFD  map[int]*seat
	total answer
}

// seat is one reader.
type seat struct {
	fd     int
	events int64
	line   bool // the last byte read ended a line
}

func runAudience() error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	a := &audience{epoll: epoll, byFD: make(map[int]*seat)}
	a.cond = sync.NewCond(&a.mu)
	go a.read()
	return serveAsks(a.do)
}

func (a *audience) do(q ask) (answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch q.Do {
	case "dial":
		for i := range q.N {
			path := q.Path
			if strings.Contains(path, "%d") {
				path = fmt.Sprintf(path, q.First+i)
			}
			if err := a.dial(q.Addr, path); err != nil {
				return answer{}, fmt.Errorf("stream %d: %w", i, err)
			}
		}
	case "await": // every reader has read so many events
		if err := a.wait(q.Total); err != nil {
			return answer{}, err
		}
	case "reset":
		a.total = answer{}
	case "stats":
	default:
		return answer{}, errors.New("unknown request")
	}
	r := a.total
	r.At = monotonic()
	for _, s := range a.seats {
		r.Seq = max(r.Seq, s.events)
	}
	return r, nil
}

// wait waits until every reader has read so many events. mu is held.
func (a *audience) wait(events int64) error {
	late := false
	defer time.AfterFunc(waitFor, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		late = true
		a.cond.Broadcast()
	}).Stop()
	for next := 0; next < len(a.seats); {
		switch {
		case a.seats[next].events >= events:
			next++
			continue
		case a.total.Closed > 0:
			return fmt.Errorf("%d streams ended", a.total.Closed)
		case late:
			return fmt.Errorf("waited %s in vain for %d events: reader %d has %d", waitFor, events, next, a.seats[next].events)
		}
		a.cond.Wait()
	}
	return nil
}

// dial asks for one stream and reads the head of the answer. mu is held.
func (a *audience) dial(addr, path string) error {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}); err != nil {
		return err
	}
	if _, err := unix.Write(fd, []byte("GET "+path+" HTTP/1.1\r\nHost: "+addr+"\r\nAccept: text/event-stream\r\n\r\n")); err != nil {
		return err
	}
	var head []byte
	for one := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")); {
		if n, err := unix.Read(fd, one); err != nil || n == 0 {
			return fmt.Errorf("%q: %w", head, errors.Join(err, net.ErrClosed))
		}
		head = append(head, one...)
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("%q", head)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	s := &seat{fd: fd}
	a.seats = append(a.seats, s)
	a.byFD[fd] = s
	return unix.EpollCtl(a.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// read is the loop of the audience.
func (a *audience) read() {
	ready := make([]unix.EpollEvent, 256)
	buf := make([]byte, 256<<10)
	for {
		n, err := unix.EpollWait(a.epoll, ready, -1)
		if err != nil && err != unix.EINTR {
			panic(err)
		}
		a.mu.Lock()
		for _, e := range ready[:max(0, n)] {
			s := a.byFD[int(e.Fd)]
			got, err := unix.Read(s.fd, buf)
			switch {
			case err == unix.EAGAIN || err == unix.EINTR:
			case err != nil || got == 0:
				a.total.Closed++
				unix.Close(s.fd)
				delete(a.byFD, s.fd)
			default:
				a.count(s, buf[:got])
			}
		}
		a.cond.Broadcast()
		a.mu.Unlock()
	}
}

// count counts the empty lines in b: events end with one and have none inside.
func (a *audience) count(s *seat, b []byte) {
	n := int64(bytes.Count(b, []byte("\n\n")))
	if s.line && b[0] == '\n' {
		n++
	}
	s.line = b[len(b)-1] == '\n' && !bytes.HasSuffix(b, []byte("\n\n"))
	if s.line && len(b) == 1 {
		s.line = n == 0
	}
	s.events += n
	a.total.Deltas += n
	a.total.Bytes += int64(len(b))
}
