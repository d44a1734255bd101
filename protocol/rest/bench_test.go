package rest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/archive"
	"harness/kernel"
	"harness/protocol/rest"
)

// handler is the API over a store, without a network.
func handler(b *testing.B, st harness.Store) http.Handler {
	b.Helper()
	k := kernel.New(st, nil, nil)
	api, err := rest.New(k, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { api.Shutdown(context.Background()); k.Close() })
	return api
}

func ask(b *testing.B, h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if w.Code != http.StatusOK {
		b.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	return w
}

// The first page of a filtered list costs the same among 1,000 sessions and
// among 100,000.
func BenchmarkListFiltered(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		st := lite(b)
		statuses := []harness.Status{harness.Idle, harness.Idle, harness.Idle, harness.Running, harness.StatusFailed}
		var wg sync.WaitGroup
		for part := range 256 { // a group commit takes them all
			wg.Go(func() {
				for i := part; i < n; i += 256 {
					id := harness.SessionID(fmt.Sprintf("ses_%06d", i))
					e := harness.NewEvent(id, 1, time.UnixMilli(1_700_000_000_000+int64(i)*1000), "", &harness.SessionState{
						SessionID: id, Kind: harness.Chat, Status: statuses[i%len(statuses)], UserID: fmt.Sprint("user", i%49), Title: new("a session"),
					})
					s := new(harness.State)
					s.Apply(e)
					if err := st.Append(b.Context(), harness.Commit{Session: id, Events: []harness.Event{e}, Summary: s.Summary()}); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		h := handler(b, st)
		for _, q := range []string{"limit=50", "status=running&limit=50", "user_id=user7&limit=50", "user_id=user7&status=failed,running&limit=50", "kind=chat&cursor=1700000500000.ses_000500&limit=50"} {
			b.Run(fmt.Sprintf("sessions=%d/%s", n, q), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					ask(b, h, "/sessions?"+q)
				}
			})
		}
	}
}

// The state at a random event costs the same in a log of 1,000 events and in
// one of a million (LONG=1; a hundred thousand without).
func BenchmarkStateAt(b *testing.B) {
	sizes := []int{1_000, 100_000}
	if os.Getenv("LONG") != "" {
		sizes[1] = 1_000_000
	}
	for _, n := range sizes {
		st := lite(b)
		if _, err := archive.Import(b.Context(), st, conversation(n)); err != nil {
			b.Fatal(err)
		}
		h := handler(b, st)
		for _, q := range []string{"", "&messages=0"} {
			b.Run(fmt.Sprintf("events=%d%s", n, q), func(b *testing.B) {
				b.ReportAllocs()
				r := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					ask(b, h, fmt.Sprintf("/sessions/ses_long/state?at=%d%s", 1+r.IntN(n), q))
				}
			})
		}
	}
}

// conversation is a log of n events: turns of 20.
func conversation(n int) []harness.Event {
	const id = "ses_long"
	log := make([]harness.Event, 0, n)
	at := time.UnixMilli(1_700_000_000_000)
	var turn harness.TurnID
	var said harness.ItemID
	add := func(p harness.Payload) {
		log = append(log, harness.NewEvent(id, harness.Seq(len(log)+1), at, turn, p))
	}
	add(&harness.SessionState{SessionID: id, Status: harness.Idle, Kind: harness.Chat})
	for len(log) < n {
		switch i := len(log); i % 20 {
		case 1:
			turn = ""
			add(&harness.UserMessage{ItemID: harness.ItemID(fmt.Sprint("itm_q", i)), Source: harness.FromTurn, Parts: harness.TextPart("please do something about this")})
		case 2:
			turn, said = harness.TurnID(fmt.Sprint("trn_", i)), harness.ItemID(fmt.Sprint("itm_a", i))
			add(&harness.TurnStart{TurnID: turn, ItemID: said, Attempt: 1})
		case 0:
			add(&harness.TurnEnd{TurnID: turn, Status: harness.TurnCompleted})
		default:
			add(&harness.Token{ItemID: said, Text: "some words that were streamed together, "})
		}
	}
	return log
}
