package notify_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/notify"
	"harness/store/memory"
)

const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// play asks, fails or completes, as the prompt says.
const play = "when ask\n  ask bash {\"command\":\"ls\"} access=execute \"Run\"\nelse when fail\n  fail no luck\nelse\n  say done\nend\n"

// rig is a kernel on a memory store and a notifier beside it.
type rig struct {
	t   testing.TB
	mem *memory.Store
	k   *kernel.Kernel
	n   *notify.Notifier
	dir string
}

func newRig(t testing.TB, mem *memory.Store, dir string, opts *notify.Options, hooks ...notify.Hook) *rig {
	t.Helper()
	r := &rig{t: t, mem: mem, dir: dir}
	s, err := script.Parse(play)
	if err != nil {
		t.Fatal(err)
	}
	r.k = kernel.New(mem, map[string]harness.Engine{"e": script.New(s, nil)}, &kernel.Options{Engine: "e"})
	t.Cleanup(func() { r.k.Close() })
	if opts == nil {
		opts = &notify.Options{Backoff: time.Millisecond}
	}
	if r.n, err = notify.Open(r.k, dir, hooks, opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.n.Close() })
	r.k.OnCommit(r.n.Committed)
	return r
}

func (r *rig) run(n harness.NewSession, prompt string) harness.SessionID {
	r.t.Helper()
	id, err := r.k.Create(r.t.Context(), n)
	if err == nil {
		_, err = r.k.Do(r.t.Context(), id, harness.Submit{Parts: harness.TextPart(prompt), Source: harness.FromTurn})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// told is a delivery, as a receiver sees it.
type told struct {
	header http.Header
	raw    []byte
	Type   string
	Data   struct {
		EventID   string `json:"event_id"`
		SessionID harness.SessionID
		RequestID string `json:"request_id"`
		UserID    string `json:"user_id"`
	}
}

// receiver is a server that takes deliveries; it answers with what answer says.
type receiver struct {
	*httptest.Server
	heard chan told

	mu     sync.Mutex // guards answer
	answer func(told) int
}

func receive(t testing.TB, answer func(told) int) *receiver {
	t.Helper()
	r := &receiver{heard: make(chan told, 1024), answer: answer} // more than any test sends
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		b, _ := io.ReadAll(req.Body)
		d := told{header: req.Header, raw: b}
		if err := json.Unmarshal(b, &d); err != nil {
			t.Error(err)
		}
		status := 204
		if r.answer != nil {
			r.mu.Lock()
			status = r.answer(d)
			r.mu.Unlock()
		}
		w.WriteHeader(status)
		r.heard <- d
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) next(t testing.TB) told {
	t.Helper()
	select {
	case d := <-r.heard:
		return d
	case <-time.After(time.Minute):
		t.Fatal("nothing is delivered")
	}
	return told{}
}

func (r *receiver) hook(name string) notify.Hook {
	return notify.Hook{Name: name, URL: r.URL + "/hook", Secret: secret, Private: true, On: notify.Kinds()}
}
