package postgrestest

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
)

// Wall is a way to the database that can be cut: bytes that are on it then stay
// where they are, as on a network that drops packets, and go on when it is mended.
type Wall struct {
	t   testing.TB
	URL string // of the database, by this way

	mu       sync.Mutex // guards what follows
	cond     *sync.Cond
	from, to bool // nothing comes from the database, or gets to it
	closed   bool
}

// Way is a direction.
type Way int

// The directions.
const (
	BothWays Way = iota
	FromDatabase
	ToDatabase
)

// NewWall makes a way to the database that address names, which has a socket.
func NewWall(t testing.TB, address string) *Wall {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return NewWallAt(t, address, l)
}

// NewWallAt is NewWall where l listens. It closes l.
func NewWallAt(t testing.TB, address string, l net.Listener) *Wall {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	socket := filepath.Join(q.Get("host"), ".s.PGSQL."+q.Get("port"))
	w := &Wall{t: t}
	w.cond = sync.NewCond(&w.mu)
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	q.Set("host", host)
	q.Set("port", port)
	q.Set("sslmode", "disable")
	q.Set("connect_timeout", "1") // in seconds: nobody refuses
	u.RawQuery = q.Encode()
	w.URL = u.String()
	var wg sync.WaitGroup
	var conns sync.Map
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			db, err := net.Dial("unix", socket)
			if err != nil {
				c.Close()
				continue
			}
			conns.Store(c, db)
			wg.Go(func() { w.pass(db, c, &w.to) })
			wg.Go(func() { w.pass(c, db, &w.from) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		w.mu.Lock()
		w.closed = true
		w.cond.Broadcast()
		w.mu.Unlock()
		conns.Range(func(a, b any) bool {
			a.(net.Conn).Close()
			b.(net.Conn).Close()
			return true
		})
		wg.Wait()
	})
	return w
}

// pass copies until either end closes, and holds while its way is cut.
func (w *Wall) pass(dst, src net.Conn, cut *bool) {
	defer dst.Close()
	defer src.Close()
	for buf := make([]byte, 64<<10); ; {
		n, err := src.Read(buf)
		w.mu.Lock()
		for *cut && !w.closed {
			w.cond.Wait()
		}
		w.mu.Unlock()
		if n > 0 {
			if _, err := dst.Write(buf[:n]); err != nil {
				return
			}
		}
		if err == io.EOF || err != nil {
			return
		}
	}
}

// Cut lets nothing through any more, in some direction.
func (w *Wall) Cut(which Way) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from, w.to = which != ToDatabase, which != FromDatabase
}

// Mend lets everything through again, also what was held.
func (w *Wall) Mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from, w.to = false, false
	w.cond.Broadcast()
}
