package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
		if name := r.Header.Get("Caller"); name != "" {
			until, _ := time.Parse(time.RFC3339Nano, r.Header.Get("Expires")) // none: never
			life := harness.NewLife(nil)
			if r.Header.Get("Over") != "" {
				life.End()
			}
			r = r.WithContext(harness.WithCaller(r.Context(), harness.Caller{Name: name, Role: harness.Admin, Expires: until, Life: life}))
		}
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
