package bench

import (
	"net"
	"net/http"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// bare is the floor of fan-out: sockets, and a loop that writes the same bytes
// to each. It knows nothing but the handshake.
type bare struct {
	http *http.Server
	addr string
	wg   sync.WaitGroup

	mu    sync.Mutex // guards what follows
	conns []net.Conn
	raw   []syscall.RawConn
}

func serveBare() (*bare, error) {
	b := &bare{}
	var err error
	b.http, b.addr, err = listen(&b.wg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nc, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		raw, err := nc.(*net.TCPConn).SyscallConn()
		if err != nil {
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.conns, b.raw = append(b.conns, nc), append(b.raw, raw)
		nc.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"))
	}))
	return b, err
}

// fds are the sockets' descriptors, good while the sockets are open.
func (b *bare) fds() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	fds := make([]int, len(b.raw))
	for i, r := range b.raw {
		r.Control(func(fd uintptr) { fds[i] = int(fd) })
	}
	return fds
}

// writeAll writes frame to each socket, waiting for those that are full.
func (b *bare) writeAll(fds []int, frame []byte) error {
	for i, fd := range fds {
		n, err := unix.Write(fd, frame)
		switch {
		case err == unix.EAGAIN:
			n = 0
		case err != nil:
			return err
		}
		if n < len(frame) {
			if _, err := b.conns[i].Write(frame[n:]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bare) close() {
	b.mu.Lock()
	for _, c := range b.conns {
		c.Close()
	}
	b.mu.Unlock()
	b.http.Close()
	b.wg.Wait()
}
