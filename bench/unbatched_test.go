package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"harness/internal/socket"
)

// unbatched is the CPU per write of one delta alone to each of 1,000 watchers,
// in ns.
type unbatched struct {
	conn, bare          float64 // a connection's Write, and the bare system call on the same sockets
	server, bareProcess float64 // the whole server's process, and that of the bare loop
}

func measureUnbatched(tb testing.TB, _ struct{}) unbatched {
	const watchers = 1000
	rounds := 60
	if long() {
		rounds = 300
	}
	p := startPair(tb, watchers)
	defer p.close()
	ours := startPour(tb, watchers, -1)
	defer ours.close()
	frame := socket.AppendText(nil, message())
	ways := []func() error{
		func() error { return p.writeConns(frame) },
		func() error { return p.writeBare(frame) },
	}
	var threads, processes [2][]float64
	var server []float64
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for round := range 2 * rounds { // whoever comes second finds warm sockets
		for turn := range ways {
			i := (round + turn) % len(ways)
			var cpu time.Duration
			r := race(p.crowd, 1, func(int) error {
				start := threadNow()
				defer func() { cpu = threadNow() - start }()
				return ways[i]()
			})
			threads[i] = append(threads[i], float64(cpu)/watchers)
			processes[i] = append(processes[i], r.cpu)
		}
		for range ways {
			server = append(server, ours.round(tb, 1).cpu)
		}
	}
	return unbatched{median(threads[0]), median(threads[1]), median(server), median(processes[1])}
}

// pair is connections of the server's transport whose sockets can also be
// written to behind its back: each has a second descriptor.
type pair struct {
	srv   *socket.Server
	http  *http.Server
	crowd *child
	wg    sync.WaitGroup

	mu    sync.Mutex // guards what follows
	conns []*socket.Conn
	fds   []int
}

func startPair(tb testing.TB, n int) *pair {
	tb.Helper()
	p := &pair{}
	var err error
	if p.srv, err = socket.New(p, nil); err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p.http = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.srv.Upgrade(w, r, "", nil) }),
		ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
			if err := p.second(nc); err != nil {
				nc.Close()
			}
			return ctx
		},
	}
	p.wg.Go(func() { p.http.Serve(l) })
	p.crowd = startChild(tb, "crowd")
	p.crowd.ask(ask{Do: "dial", Addr: l.Addr().String(), Path: "/", N: n, Kind: "plain"})
	until(tb, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.conns) == n && len(p.fds) == n
	})
	return p
}

// second keeps another descriptor of nc's socket.
func (p *pair) second(nc net.Conn) error {
	raw, err := nc.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) {
		if dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.fds = append(p.fds, dup)
		}
	})
}

func (p *pair) Opened(c *socket.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, c)
}
func (p *pair) Message(*socket.Conn, []byte)         {}
func (p *pair) Refused(*socket.Conn, socket.Refusal) {}
func (p *pair) Writable(*socket.Conn)                {}
func (p *pair) Closed(*socket.Conn, error)           {}

func (p *pair) writeConns(frame []byte) error {
	for _, c := range p.conns {
		if n, err := c.Write(frame); n < len(frame) {
			return fmt.Errorf("wrote %d of %d: %w", n, len(frame), err)
		}
	}
	return nil
}

// writeBare is what a loop in C would do: nothing but the system call.
func (p *pair) writeBare(frame []byte) error {
	for _, fd := range p.fds {
		n, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&frame[0])), uintptr(len(frame)))
		if e != 0 || int(n) < len(frame) {
			return fmt.Errorf("wrote %d of %d: %w", n, len(frame), e)
		}
	}
	return nil
}

func (p *pair) close() {
	p.crowd.end()
	soon, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	p.srv.Shutdown(soon)
	p.http.Close()
	p.wg.Wait()
	for _, fd := range p.fds {
		unix.Close(fd)
	}
}

// BenchmarkUnbatched is one delta alone to 1,000 watchers.
func BenchmarkUnbatched(b *testing.B) {
	u := unbatcheds.get(b, struct{}{}, measureUnbatched)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(u.conn, "conn-cpu-ns/write")
	b.ReportMetric(u.bare, "bare-cpu-ns/write")
	b.ReportMetric(u.conn/u.bare, "conn-x-bare")
	b.ReportMetric(u.server, "server-cpu-ns/write")
	b.ReportMetric(u.bareProcess, "bare-process-cpu-ns/write")
	b.ReportMetric(u.server/u.bareProcess, "server-x-bare")
}
