package delta_test

import (
	"fmt"
	"testing"

	"harness/kernel"
	"harness/store/memory"
)

// talk does n turns of two messages each.
func (s *server) talk(id string, n int) {
	s.t.Helper()
	c := s.connect("?sessionId=" + id)
	defer c.ws.CloseNow()
	for range n {
		want := len(c.state().Messages) + 2
		c.do(fmt.Sprintf(`{"type":"submit","prompt":"turn %d"}`, want/2))
		c.until("the turn ends", func(s state) bool { return idle(s) && len(s.Messages) == want })
	}
}

func TestAWindowIsTheTailOfTheSession(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*kernel.Options{"sealed": {SnapshotEvery: 16}, "unsealed": {SnapshotEvery: 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sv := serveOn(t, memory.New(), "echo", opts, nil)
			id := sv.create("")
			sv.talk(id, 100)
			for query, first := range map[string]int{
				"&window=1": 136, "&window=64": 136, "&window=65": 72, "&window=128": 72, "&window=200": 0, "&window=9999": 0, "&window=0": 0, "": 0,
			} {
				c := sv.connect("?sessionId=" + id + query)
				if got := c.state().FirstMessage; got != first || len(c.state().Messages) != 200-first {
					t.Errorf("%s: %d messages from %d on, want from %d on", query, len(c.state().Messages), got, first)
				}
				c.settle(sv)
			}
		})
	}
}

// A window grows to twice its size and is then cut anew with a state; the
// client's state is always the tail of everybody's.
func TestAWindowIsCutAnewWhenItHasDoubled(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", &kernel.Options{SnapshotEvery: 32})
	id := sv.create("")
	full, narrow, other := sv.connect("?sessionId="+id), sv.connect("?window=64&sessionId="+id), sv.connect("?window=10&sessionId="+id)
	widest := 0
	for n := range 150 {
		full.do(`{"type":"submit","prompt":"hi"}`)
		want := 2 * (n + 1)
		for _, c := range []*client{full, narrow, other} {
			s := c.until("the turn ends", func(s state) bool { return idle(s) && s.FirstMessage+len(s.Messages) == want })
			widest = max(widest, len(s.Messages)*min(1, s.FirstMessage))
		}
		if n%10 == 9 {
			for _, c := range []*client{full, narrow, other} {
				c.settle(sv)
			}
		}
	}
	if string(narrow.json()) != string(other.json()) {
		t.Error("two clients with the same window see different states")
	}
	states := narrow.count("state")
	if first := narrow.state().FirstMessage; states != 4 || 300-first < 64 || widest > 140 || widest < 120 {
		t.Errorf("%d states, the window begins at %d, its widest was %d", states, first, widest)
	}
	if full.count("state") != 1 {
		t.Error("the client without a window was sent a second state")
	}
}

// A question is shown whatever the window; what happens to a call is told to
// those in whose window its message is.
func TestApprovalsInAndOutOfAWindow(t *testing.T) {
	t.Parallel()
	src := "when ask\nask bash {\"c\":1} \"May I\" => did\nsay done\nelse when steers\ntool slow {}\nrepeat 64\nsteer\nend\nresult out\noutcome ok\nelse\necho\nend\n"
	sv := serve(t, src, &kernel.Options{SnapshotEvery: 32})
	id := sv.create("")
	sv.talk(id, 80)
	full, narrow := sv.connect("?sessionId="+id), sv.connect("?window=64&sessionId="+id)
	full.do(`{"type":"submit","prompt":"ask"}`)
	s := narrow.until("it asks", func(s state) bool { return len(s.PendingApprovals) == 1 })
	if got := s.last().ToolCalls[0].Status; got != "awaiting-approval" {
		t.Errorf("the call is %s", got)
	}
	late := sv.connect("?window=64&sessionId=" + id)
	late.settle(sv)
	narrow.do(`{"type":"approve","toolCallId":"` + s.PendingApprovals[0].ToolCallID + `"}`)
	for _, c := range []*client{full, narrow, late} {
		c.until("the turn ends", func(s state) bool { return idle(s) && s.last().Content == "done" })
		c.settle(sv)
	}
	// A call whose message leaves the window while it is open.
	full.do(`{"type":"submit","prompt":"steers"}`)
	full.until("it waits", func(s state) bool { return s.Status == "running" && len(s.last().ToolCalls) == 1 })
	for n := range 64 { // a turn takes no more
		full.do(`{"type":"steer","message":"left"}`)
		want := 162 + 2 + 2*(n+1)
		full.until("it was steered", func(s state) bool { return len(s.Messages) >= want-1 && s.last().Content == "steered: left" })
	}
	for _, c := range []*client{full, narrow, late} {
		c.until("the turn ends", idle)
		c.settle(sv)
	}
	if narrow.state().FirstMessage < 164 {
		t.Errorf("the window begins at %d", narrow.state().FirstMessage)
	}
}
