package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestOldSessionsGoOnEveryStore keeps sessions for a moment: what is at rest
// goes, on a store of its own and with two nodes on a shared one, and what is at
// work stays.
func TestOldSessionsGoOnEveryStore(t *testing.T) {
	t.Parallel()
	const script = "when long\nsay begun\nhang\nelse\necho\nend"
	for name, open := range map[string]func(t *testing.T) []*process{
		"sqlite":   func(t *testing.T) []*process { return startNodes(t, "sqlite", script, 1, "--retention", "500ms") },
		"jsonl":    func(t *testing.T) []*process { return startNodes(t, "jsonl", script, 1, "--retention", "500ms") },
		"postgres": func(t *testing.T) []*process { return startNodes(t, schema(t), script, 2, "--retention", "500ms") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := open(t)
			a, b := nodes[0], nodes[len(nodes)-1]
			var long string
			eventually(t, "a session has work before it is old", func() bool {
				long = a.make(t, "")
				code, _, _ := a.status("POST", "/chat/sessions/"+long+"/turns", `{"prompt":"long"}`, a.bearer(http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}))
				return code < 300
			})
			b.follow(long).until("the turn", kind("token"))
			var old []string
			for range 5 {
				old = append(old, a.make(t, ""))
			}
			for _, id := range old {
				for _, p := range nodes {
					eventually(t, fmt.Sprintf("%s is gone", id), func() bool {
						code, _ := p.get("/sessions/"+id, nil)
						return code == http.StatusNotFound
					})
				}
			}
			if code, body := b.get("/sessions/"+long, nil); code != http.StatusOK {
				t.Errorf("the session that works: %d %s", code, body)
			}
		})
	}
	if o := invoke(t, "serve", "--retention", (-time.Second).String()); o.code == 0 {
		t.Error("a negative time is taken")
	}
}
