package postgres_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/store/postgres"
	"harness/store/postgres/postgrestest"
)

// wire stands between a store and its server and breaks the way as it is told.
type wire struct {
	dir string

	mu    sync.Mutex // guards what follows
	fault fault
	hit   chan struct{} // closed when the fault has happened
}

type fault int

const (
	none    fault = iota
	unasked       // the next request is lost with its connection
	untold        // the next answer is lost with its connection
	swallow       // the next request is lost, the connection stays
)

// newWire listens in a directory of its own.
func newWire(t *testing.T, server *postgrestest.Server) *wire {
	t.Helper()
	dir, err := os.MkdirTemp("", "wire")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{dir: dir}
	var wg sync.WaitGroup
	var conns sync.Map
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("unix", server.Socket())
			if err != nil {
				client.Close()
				continue
			}
			conns.Store(client, true)
			conns.Store(upstream, true)
			wg.Go(func() { w.carry(upstream, client, unasked) })
			wg.Go(func() { w.carry(client, upstream, untold) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		conns.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
		wg.Wait()
		os.RemoveAll(dir)
	})
	return w
}

// carry copies one direction; at is the fault that breaks it.
func (w *wire) carry(to, from net.Conn, at fault) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		switch got := w.strikes(at); {
		case got == none:
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		case got == swallow:
			io.Copy(io.Discard, from)
			return
		default:
			return
		}
	}
}

// strikes says whether the fault that was planned happens in this direction now.
func (w *wire) strikes(at fault) fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault == at || w.fault == swallow && at == unasked {
		struck := w.fault
		w.fault = none
		close(w.hit)
		return struck
	}
	return none
}

func (w *wire) plan(f fault) (hit chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault, w.hit = f, make(chan struct{})
	return w.hit
}

// TestAnAppendWhoseAnswerIsLostIsUnknownAndNeverHalf cuts the writer's connection
// in the middle of an append. Afterwards the store works again.
func TestAnAppendWhoseAnswerIsLostIsUnknownAndNeverHalf(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	w := newWire(t, server)
	direct := server.URL(t)
	url := strings.Replace(direct, filepath.Dir(server.Socket()), w.dir, 1)
	watch := open(t, direct)
	st, err := postgres.Open(t.Context(), url, &postgres.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	head := harness.Seq(0)
	for _, c := range []struct {
		what   string
		fault  fault
		landed bool
	}{
		{"the request is lost", unasked, false}, {"the answer is lost", untold, true}, {"the server is out of reach", swallow, false},
	} {
		var err error
		for struck := false; !struck; { // a connection that was idle for long is tried first: then the fault hit that
			mustAppend(t, st, commit("a", head, 3))
			head += 3
			quiet(t, st)
			hit := w.plan(c.fault)
			if err = st.Append(t.Context(), commit("a", head, 3)); err == nil {
				head += 3
			}
			<-hit
			struck = err != nil && !strings.Contains(err.Error(), "nothing was written")
		}
		if errors.Is(err, harness.ErrConflict) || !errors.Is(err, harness.ErrStorage) || !strings.Contains(err.Error(), "unknown") {
			t.Fatalf("%s: the append says %v", c.what, err)
		}
		if c.landed {
			until(t, func() bool { n, err := read(t, watch, "a"); return err == nil && n == head+3 }, c.what+", but the commit landed")
			if err := st.Append(t.Context(), commit("a", head, 3)); !errors.Is(err, harness.ErrConflict) {
				t.Fatalf("%s: the same again: %v", c.what, err)
			}
			head += 3
		}
		if n, err := read(t, watch, "a"); err != nil || n != head {
			t.Fatalf("%s: the log has %d events, %v, want %d", c.what, n, err, head)
		}
	}
	mustAppend(t, st, commit("a", head, 3))
}

// quiet waits until the hint of the last append is on its way, so that the next
// thing on the wire is the append of the test.
func quiet(t *testing.T, st *postgres.Store) {
	t.Helper()
	until(t, func() bool { return st.Quiet() }, "quiet")
}
