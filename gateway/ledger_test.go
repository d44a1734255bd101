package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/gateway"
)

// pages is a ledger and what it has written.
type pages struct {
	*gateway.Ledger
	mu  sync.Mutex // guards all
	all []gateway.Record
}

func newPages() *pages {
	p := new(pages)
	p.Ledger = gateway.NewLedger(func(r gateway.Record) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all = append(p.all, r)
	})
	return p
}

func (p *pages) turned() []gateway.Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.all = nil }()
	return p.all
}

// TestRefusalsAreBoundedAndDecisionsAreNot: a flood of one caller is cut off and
// counted, nobody else's is, and no decision is ever left out.
func TestRefusalsAreBoundedAndDecisionsAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPages()
		refusal := gateway.Record{Caller: alice, Request: "websocket message", Code: "invalid", Reason: "no"}
		for range 5000 {
			p.Put(refusal)
		}
		if n := len(p.turned()); n != 1000 {
			t.Errorf("5000 refusals are %d lines", n)
		}
		bob := refusal
		bob.Caller.Name, bob.Caller.User = "bob", "bob"
		p.Put(bob)
		for range 5000 {
			p.Put(gateway.Record{Caller: alice, Action: gateway.Answer, Detail: "allow"})
		}
		if all := p.turned(); len(all) != 5001 || all[0].Caller.Name != "bob" || all[0].LeftOut != 0 {
			t.Errorf("bob's line and 5000 decisions are %d", len(all))
		}
		time.Sleep(20 * time.Second) // sleep: of the bubble's clock
		for range 10 {
			p.Put(refusal)
		}
		if all := p.turned(); len(all) != 2 || all[0].LeftOut != 4000 || all[1].LeftOut != 0 {
			t.Errorf("later there are %+v", all)
		}
	})
}

// TestStrangersTogetherAreBounded, whatever number of addresses they have.
func TestStrangersTogetherAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPages()
		for i := range 3000 {
			p.Put(gateway.Record{Remote: fmt.Sprintf("10.1.%d.%d:1", i/250, i%250), Code: "unauthenticated", Reason: "no"})
		}
		p.Put(gateway.Record{Caller: alice, Code: "invalid", Reason: "no"})
		if all := p.turned(); len(all) != 2001 || all[2000].Caller.Name != alice.Name {
			t.Errorf("3000 strangers and alice have %d lines", len(all))
		}
		time.Sleep(10 * time.Second) // sleep: of the bubble's clock
		p.Put(gateway.Record{Remote: "10.9.9.9:1", Code: "unauthenticated", Reason: "no"})
		if all := p.turned(); len(all) != 1 || all[0].LeftOut != 1000 {
			t.Errorf("later there are %+v", all)
		}
	})
}

// TestOneThingThatIsAskedHasOneRefusal, whoever of the server has a word in it.
func TestOneThingThatIsAskedHasOneRefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bobs := w.create("bob")
	ctx := w.g.Asked(as(t, "alice", harness.Viewer))
	if _, err := w.g.Do(ctx, bobs, harness.Cancel{}); err == nil {
		t.Error("alice is let in")
	}
	for range w.g.List(ctx, harness.Filter{Session: bobs}) {
		t.Error("bob's session is listed")
	}
	w.g.Refused(ctx, harness.Refusal{What: "websocket cancel", Code: "forbidden", Text: "no"})
	if all := w.drained(); len(all) != 1 || all[0].Action != gateway.Cancel {
		t.Errorf("the audit has %+v", all)
	}
	w.g.Refused(w.g.Asked(ctx), harness.Refusal{What: "websocket message", Code: "invalid", Text: "no"}) // another thing
	if all := w.drained(); len(all) != 1 || all[0].Request != "websocket message" {
		t.Errorf("the audit has %+v", all)
	}
}

// TestHowThingsStandIsNoRefusal: a row for each member of the closed set.
func TestHowThingsStandIsNoRefusal(t *testing.T) {
	t.Parallel()
	refused := map[*harness.Error]bool{
		harness.ErrInvalid: true, harness.ErrTooLarge: true, harness.ErrNotFound: true, harness.ErrTurnNotFound: true, harness.ErrQueueFull: true, harness.ErrNoApproval: true,
		harness.ErrUnsupported: true, harness.ErrUnauthenticated: true, harness.ErrForbidden: true, harness.ErrTooMany: true, harness.ErrQuota: true, harness.ErrSecret: true,

		harness.ErrExists: false, harness.ErrNotRunning: false, harness.ErrBusy: false, harness.ErrDecided: false, harness.ErrUnavailable: false, harness.ErrBranched: false,
		harness.ErrConflict: false, harness.ErrStorage: false, harness.ErrCorrupt: false, harness.ErrLocked: false, harness.ErrInternal: false,
	}
	w := newWorld(t)
	for _, e := range harness.Errors() {
		want, ok := refused[e]
		w.g.Refused(w.g.Asked(as(t, "alice", harness.Viewer)), harness.Refusal{What: "websocket submit", Code: e.Code, Text: e.Text})
		if got := len(w.drained()) == 1; !ok || got != want {
			t.Errorf("%s is a refusal: %t", e.Code, got)
		}
	}
}

// TestEveryAnswerOfTheEdgeThatRefusesHasItsRecord, also of a handler that says
// nothing but a status, and none that does not.
func TestEveryAnswerOfTheEdgeThatRefusesHasItsRecord(t *testing.T) {
	t.Parallel()
	p := newPages()
	names, err := gateway.NewNames(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717}, false)
	if err != nil {
		t.Fatal(err)
	}
	e := gateway.NewEdge(names, gateway.NewAuth(names, gateway.AuthOptions{Off: true}), &gateway.EdgeOptions{Audit: p.Ledger})
	var status int
	e.Handle(gateway.Route{Pattern: "/x"}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if status > 0 {
			http.Error(w, "no", status)
		}
	}))
	for status = range 600 {
		if status > 0 && status < 200 {
			continue
		}
		r := httptest.NewRequest("GET", "http://127.0.0.1:7717/x", nil)
		e.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
		want := 0
		if status >= 400 && status < 500 && status != 409 {
			want = 1
		}
		if all := p.turned(); len(all) != want || want == 1 && (all[0].Request != "GET /x" || all[0].Remote == "" || all[0].Code == "") {
			t.Errorf("%d: %+v", status, all)
		}
	}
}

// TestARecordIsOneLine, whatever was said.
func TestARecordIsOneLine(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	evil := "a\r\n{\"level\":\"INFO\"}\x1b[2J\u202e" + strings.Repeat("x", 1<<20)
	gateway.AuditTo(slog.New(slog.NewJSONHandler(&b, nil)), nil).Put(gateway.Record{
		Caller: harness.Caller{Name: evil, User: evil, Role: harness.CallerRole(evil)}, Remote: evil, Request: evil, Session: harness.SessionID(evil), Detail: evil, Code: evil, Reason: evil,
	})
	if n := bytes.Count(b.Bytes(), []byte("\n")); n != 1 || b.Len() > 4096 || bytes.ContainsAny(b.Bytes(), "\x1b\r\u202e") {
		t.Errorf("%d lines: %q", n, b.Bytes())
	}
}

// TestARefusedTrustSaysWhichModeWasAskedFor, in a session and in a new one.
func TestARefusedTrustSaysWhichModeWasAskedFor(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t), newPages()
	g := gateway.New(w.k, &gateway.Options{Audit: p.Ledger})
	ctx, id := as(t, "alice", harness.Operator), w.create("alice")
	g.Do(ctx, id, harness.Configure{Patch: mode(harness.FullAuto)})
	g.Create(ctx, harness.NewSession{Config: mode(harness.FullAuto)})
	all := p.turned()
	if len(all) != 2 {
		t.Fatalf("the audit has %+v", all)
	}
	for _, r := range all {
		if r.Action != gateway.Trust || r.Detail != string(harness.FullAuto) || !errors.Is(r.Err, harness.ErrForbidden) {
			t.Errorf("the audit has %+v", r)
		}
	}
}

// TestAGlimpseIsNothingThatWasAskedFor: it shows what a list shows, and what it
// does not show leaves no line.
func TestAGlimpseIsNothingThatWasAskedFor(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t), newPages()
	g := gateway.New(w.k, &gateway.Options{Audit: p.Ledger})
	id := w.create("alice")
	if sum, err := g.Glimpse(as(t, "alice", harness.Viewer), id); err != nil || sum.Session != id {
		t.Errorf("%+v, %v", sum, err)
	}
	if _, err := g.Glimpse(as(t, "bob", harness.Viewer), id); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("another's: %v", err)
	}
	if _, err := g.Glimpse(t.Context(), id); !errors.Is(err, harness.ErrUnauthenticated) {
		t.Errorf("nobody's: %v", err)
	}
	if all := p.turned(); len(all) > 0 {
		t.Errorf("the audit has %+v", all)
	}
}
