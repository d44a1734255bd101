package main

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// wall is a way to the database that can be cut: bytes that are on it then stay
// where they are, as on a network that drops packets, and go on when it is mended.
type wall struct {
	t   testing.TB
	url string // of the database, by this way

	mu       sync.Mutex // guards what follows
	cond     *sync.Cond
	from, to bool // nothing comes from the database, or gets to it
	closed   bool
}

type way int

const (
	bothWays way = iota
	fromDatabase
	toDatabase
)

// newWall makes a way to the database that address names, which has a socket.
func newWall(t testing.TB, address string) *wall {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	socket := filepath.Join(q.Get("host"), ".s.PGSQL."+q.Get("port"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wall{t: t}
	w.cond = sync.NewCond(&w.mu)
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	q.Set("host", host)
	q.Set("port", port)
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	w.url = u.String()
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
func (w *wall) pass(dst, src net.Conn, cut *bool) {
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

func (w *wall) cut(which way) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from, w.to = which != toDatabase, which != fromDatabase
}

func (w *wall) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from, w.to = false, false
	w.cond.Broadcast()
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	late := time.After(patience)
	for every := time.NewTicker(10 * time.Millisecond); !cond(); {
		select {
		case <-every.C:
		case <-late:
			t.Fatalf("%s: not after %v", what, patience)
		}
	}
}
