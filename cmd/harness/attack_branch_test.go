package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestAnOperatorRegainsNoTrustByABranch is attack 26 by way of the past: a mode
// that an approver took back is not in a branch from where it was, whichever way
// that is made; the approver's own branch has it, and the audit says so.
func TestAnOperatorRegainsNoTrustByABranch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	made := func(got map[string]any) string {
		t.Helper()
		id, _ := got["session_id"].(string)
		if id == "" {
			t.Fatalf("made %v", got)
		}
		return id
	}
	chat := h.session(t, "ada", "hello")
	h.settled(t)
	work := made(h.must(t, ask{as: "ada", method: "POST", path: "/sessions", body: `{"prompt":"hello"}`}))
	h.settled(t)
	mode := func(id string) string {
		t.Helper()
		return h.must(t, ask{as: "ada", method: "GET", path: "/sessions/" + id})["config"].(map[string]any)["permission_mode"].(string)
	}
	trusted := func(id string) string { // the event at which it trusts everything
		t.Helper()
		h.must(t, ask{as: "ada", method: "PATCH", path: "/sessions/" + id, body: `{"permission_mode":"full_auto"}`})
		at := h.must(t, ask{as: "ada", method: "GET", path: "/sessions/" + id})
		h.must(t, ask{as: "ada", method: "PATCH", path: "/sessions/" + id, body: `{"permission_mode":"normal"}`})
		return fmt.Sprintf("%s.%v", id, at["seq"])
	}
	chatAt, workAt := trusted(chat), trusted(work)
	for _, who := range [][2]string{{"ada-operator", "normal"}, {"ada", "full_auto"}} {
		as, want := who[0], who[1]
		rpc := h.speakAs(t, as)
		ways := map[string]func() string{
			"branch": func() string {
				return made(h.must(t, ask{as: as, method: "POST", path: "/chat/sessions/" + chat + "/branch", body: `{"from_event_id":"` + chatAt + `"}`}))
			},
			"resume": func() string {
				return made(h.must(t, ask{as: as, method: "POST", path: "/sessions/" + work + "/resume", body: `{"from_event_id":"` + workAt + `","prompt":"again"}`}))
			},
			"thread.fork": func() string {
				_, seq, _ := strings.Cut(chatAt, ".")
				got := rpc.call("thread.fork", fmt.Sprintf(`{"threadId":%q,"at":%s}`, chat, seq))
				var thread struct{ Thread struct{ ThreadID string } }
				if err := json.Unmarshal(got.Result, &thread); err != nil || thread.Thread.ThreadID == "" {
					t.Fatalf("thread.fork: %s %+v", got.Result, got.Error)
				}
				return thread.Thread.ThreadID
			},
		}
		for way, make := range ways {
			if got := mode(make()); got != want {
				t.Errorf("%s as %s: %s, want %s", way, as, got, want)
			}
		}
	}
	const all = 3
	var lines []string
	until(t, "the audit of each branch", func() bool {
		lines = h.lines(t, "audit.log", `"detail":"full_auto of a branch"`)
		return len(lines) >= all
	})
	for _, line := range lines {
		if len(lines) != all || !strings.Contains(line, `"caller":"ada"`) || !strings.Contains(line, `"action":"trust"`) {
			t.Errorf("of %d lines the audit has %s", len(lines), line)
		}
	}
}
