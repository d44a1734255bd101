package rest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/store/jsonl"
	"harness/store/memory"
	"harness/store/sqlite"
)

const soon = 20 * time.Second

// house is the real thing on a loopback port: kernel, store, script engine,
// feeds.
type house struct {
	t      testing.TB
	k      *kernel.Kernel
	store  harness.Store
	engine *script.Engine
	feeds  *feeds
	web    *httptest.Server
	addr   string
	close  func()
	down   func(context.Context) error // ends the streams, once
}

// stores are those that the promises are shown on.
var stores = map[string]func(t testing.TB) harness.Store{
	"memory": func(testing.TB) harness.Store { return memory.New() },
	"sqlite": func(t testing.TB) harness.Store {
		st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		return st
	},
	"jsonl": func(t testing.TB) harness.Store {
		st, err := jsonl.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		return st
	},
}

func eachStore(t *testing.T, f func(t *testing.T, st harness.Store)) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, open(t))
		})
	}
}

func build(t testing.TB, st harness.Store, src string, ko kernel.Options, fo feedOptions) *house {
	t.Helper()
	parsed, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, store: st, engine: script.New(parsed, nil)}
	ko.Engine = "script"
	if ko.IdleAfter == 0 {
		ko.IdleAfter = 20 * time.Millisecond
	}
	h.k = kernel.New(st, map[string]harness.Engine{"script": h.engine}, &ko)
	if h.feeds, err = newFeeds(h.k, fo); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{id}", func(w http.ResponseWriter, r *http.Request) {
		s, err := parseSubscription(r, harness.SessionID(r.PathValue("id")))
		if turn := r.URL.Query().Get("turn"); turn != "" {
			s.until = untilTurn(harness.TurnID(turn))
		}
		if err == nil {
			err = h.feeds.serve(w, r, s)
		}
		if err != nil {
			p := asProblem(err)
			http.Error(w, p.Code+": "+p.Detail, p.Status)
		}
	})
	h.web = httptest.NewServer(mux)
	h.addr = h.web.Listener.Addr().String()
	var once sync.Once
	h.down = func(ctx context.Context) (err error) {
		once.Do(func() { err = h.feeds.shutdown(ctx) })
		return err
	}
	h.close = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		h.down(ctx)
		h.web.Close()
		h.k.Close()
	})
	t.Cleanup(h.close)
	return h
}

func (h *house) create(id harness.SessionID) harness.SessionID {
	h.t.Helper()
	id, err := h.k.Create(h.t.Context(), harness.NewSession{ID: id})
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

func (h *house) submit(id harness.SessionID, text string) harness.Receipt {
	h.t.Helper()
	r, err := h.k.Do(context.Background(), id, harness.Submit{Parts: harness.TextPart(text), Source: harness.FromTurn, OnBusy: harness.Enqueue})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) asleep() {
	h.t.Helper()
	eventually(h.t, "all sleep and nobody reads", func() bool {
		return h.k.Awake() == 0 && h.feeds.feeding() == 0
	})
}

// log is the session's events as the store has them.
func (h *house) log(id harness.SessionID, want filter) (all []heard) {
	h.t.Helper()
	for e, err := range h.store.Read(context.Background(), id, 0) {
		if err != nil {
			h.t.Fatal(err)
		}
		if want.chooses(e) {
			all = append(all, heard{fmt.Sprint(e.Seq), string(e.Type()), string(e.JSON())})
		}
	}
	return all
}

// feeding is how many rooms have a goroutine or a lane.
func (f *feeds) feeding() (n int) {
	f.each(func(r *room) {
		if r.feeding() || r.live != nil {
			n++
		}
	})
	f.readers.mu.Lock()
	defer f.readers.mu.Unlock()
	return n + f.readers.busy
}

// count is how many rooms there are.
func (f *feeds) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.rooms)
}

func (f *feeds) each(look func(*room)) {
	f.mu.Lock()
	var all []*room
	for _, r := range f.rooms {
		all = append(all, r)
	}
	f.mu.Unlock()
	for _, r := range all {
		r.mu.Lock()
		look(r)
		r.mu.Unlock()
	}
}

// heard is an event that a client was told.
type heard struct{ id, name, data string }

// listener is an EventSource: it knows the last event that came whole.
type listener struct {
	t    testing.TB
	nc   net.Conn
	resp *http.Response
	br   *bufio.Reader
	path string
	last string
	said bool // something came
}

func (h *house) listen(query string, header ...string) *listener {
	h.t.Helper()
	l, err := listen(h.t, h.addr, query, "", header...)
	if err != nil {
		h.t.Fatal(err)
	}
	if l.resp.StatusCode != 200 {
		b, _ := io.ReadAll(l.br)
		h.t.Fatalf("GET %s: %s %s", query, l.resp.Status, b)
	}
	return l
}

// listen asks for a stream; last is sent as Last-Event-ID if there is one.
func listen(t testing.TB, addr, query, last string, header ...string) (*listener, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(soon))
	head := "GET /" + query + " HTTP/1.1\r\nHost: x\r\n"
	if last != "" {
		head += "Last-Event-ID: " + last + "\r\n"
	}
	for _, line := range header {
		head += line + "\r\n"
	}
	if _, err := io.WriteString(nc, head+"\r\n"); err != nil {
		nc.Close()
		return nil, err
	}
	l := &listener{t: t, nc: nc, br: bufio.NewReader(nc), path: query, last: last}
	if l.resp, err = http.ReadResponse(l.br, nil); err != nil {
		nc.Close()
		return nil, err
	}
	return l, nil
}

// next reads one event; comments are passed over, and the session event, which
// nothing may come before.
func (l *listener) next() (heard, error) {
	var e heard
	for {
		line, err := l.br.ReadString('\n')
		if err != nil {
			return heard{}, err
		}
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "retry":
		case "":
			if line != "\n" { // a comment
				continue
			}
			if e.id != "" {
				l.last = e.id
			}
			first := !l.said
			switch l.said = l.said || e.data != ""; {
			case e.data == "":
			case e.name != "session":
				return e, nil
			case !first || e.id != "":
				return heard{}, fmt.Errorf("a session event in the middle: %v", e)
			default:
				e = heard{}
			}
		default:
			return heard{}, fmt.Errorf("line %q", line)
		}
	}
}

func (l *listener) must() heard {
	l.t.Helper()
	e, err := l.next()
	if err != nil {
		l.t.Fatalf("behind event %s: %v", l.last, err)
	}
	return e
}

// until reads up to and with the first event of a kind.
func (l *listener) until(name string) (all []heard) {
	l.t.Helper()
	for {
		e := l.must()
		if all = append(all, e); e.name == name {
			return all
		}
	}
}

// rest reads up to the stream's end.
func (l *listener) rest() (all []heard) {
	l.t.Helper()
	for {
		e, err := l.next()
		if err == io.EOF {
			l.nc.Close()
			return all
		}
		if err != nil {
			l.t.Fatalf("behind event %s: %v", l.last, err)
		}
		all = append(all, e)
	}
}

// same compares what a client was told with what it should have been told.
func same(t testing.TB, what string, got, want []heard) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: event %d is\n%v\nwant\n%v", what, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d events, want %d", what, len(got), len(want))
	}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline, look := time.After(soon), time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", soon, what)
		}
	}
}

// full asks for the full sizes and times.
func full() bool { return os.Getenv("LONG") != "" }
