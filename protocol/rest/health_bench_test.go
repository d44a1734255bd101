package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/health"
	"harness/store/sqlite"
)

// A list of 10,000 sessions that wait in line, with their health and places.
func BenchmarkList10kQueued(b *testing.B) {
	st := rows(b, 0, true)
	s := serveOn(b, st, "hang", nil)
	for i := range 10_000 {
		if _, err := s.k.Create(b.Context(), harness.NewSession{Kind: harness.Background, User: fmt.Sprint("user", i%20), Prompt: harness.TextPart("go")}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if n, _ := listed(b, s); n != 10_000 {
			b.Fatalf("%d sessions", n)
		}
	}
}

// A list of 10,000 sessions, in pages of 1,000, from the index: with their
// health, and of rows that have none.
func BenchmarkList10k(b *testing.B) {
	for _, judged := range []bool{true, false} {
		b.Run(fmt.Sprint("health=", judged), func(b *testing.B) {
			s := serveOn(b, rows(b, 10_000, judged), "say hi", nil)
			for b.Loop() {
				if n, health := listed(b, s); n != 10_000 || judged && health != n {
					b.Fatalf("%d sessions, %d with health", n, health)
				}
			}
		})
	}
}

// rows is a store with so many sessions.
func rows(b *testing.B, n int, judged bool) harness.Store {
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "log.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	now := time.Now()
	for i := range n {
		id := harness.SessionID(fmt.Sprintf("ses_%05d", i))
		e := harness.NewEvent(id, 1, now.Add(time.Duration(i)*time.Millisecond), "", &harness.SessionState{SessionID: id, Status: harness.Idle, Kind: harness.Background, Engine: "script"})
		state, fold := new(harness.State), health.New(nil)
		state.Apply(e)
		fold.Apply(e)
		row := state.Summary()
		if judged {
			fold.Rate(&row)
		}
		if err := st.Append(b.Context(), harness.Commit{Session: id, Events: []harness.Event{e}, Summary: row}); err != nil {
			b.Fatal(err)
		}
	}
	return st
}

// listed reads all pages of a list.
func listed(b *testing.B, s *server) (sessions, judged int) {
	for next := ""; ; {
		r := s.request("GET", "/sessions?limit=1000&cursor="+next, "")
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		var page struct {
			Next string `json:"next_cursor"`
		}
		if err != nil || json.Unmarshal(body, &page) != nil {
			b.Fatal(err)
		}
		sessions += bytes.Count(body, []byte(`"session_id":`))
		judged += bytes.Count(body, []byte(`"health":{"score":100,"grade":"healthy"}`))
		if next = page.Next; next == "" {
			return sessions, judged
		}
	}
}

// One page, without the client's part: what a list costs the server.
func BenchmarkListPageWithHealth(b *testing.B) {
	s := serve(b, "say hi")
	for range 200 {
		s.chat()
	}
	for b.Loop() {
		r := s.request("GET", "/sessions?limit=200", "")
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
}
