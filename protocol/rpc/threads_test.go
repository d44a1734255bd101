package rpc_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// A fork has its parent's history under its own id, then its own beginning.
func TestForkAnywhere(t *testing.T) {
	t.Parallel()
	sv := serve(t, "say a\ntool bash {\"command\":\"x\"}\nlog l\nsay b\noutcome ok\nask bash => y\nsay c\n")
	c := sv.connect()
	id := c.thread()
	c.start(id, "go")
	c.must(nil, "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"once"}`, approval(c.until("approval.requested"))))
	c.until("turn.completed")
	parent := c.get(id)
	end := seqOf(parent[len(parent)-1])
	for at := 1; at <= end; at++ {
		var r struct {
			Thread struct {
				ThreadID, ParentThreadID string
				Seq                      int
			}
		}
		c.must(&r, "thread.fork", fmt.Sprintf(`{"threadId":%q,"at":%d,"title":"fork"}`, id, at))
		fork := r.Thread.ThreadID
		if r.Thread.ParentThreadID != id || r.Thread.Seq != at+2 {
			t.Errorf("fork at %d: %+v", at, r)
		}
		c.until("thread.created")
		got := records(t, c.get(fork))
		balanced(t, got)
		same(t, fmt.Sprintf("told of the fork at %d", at), c.notes(fork), got[len(got)-len(c.notes(fork)):])
		if last := got[len(got)-1]; !strings.HasPrefix(last, "thread.created ") || strings.Contains(strings.Join(got, ""), strconv.Quote(id)) {
			t.Errorf("fork at %d:\n%s", at, strings.Join(got, "\n"))
		}
		want := records(t, parent[:len(parent)-len(behind(parent, at))])
		for i, w := range want[1:] { // but for the parent's creation
			if w = strings.ReplaceAll(w, strconv.Quote(id), strconv.Quote(fork)); got[i] != w {
				t.Fatalf("fork at %d, number %d\ngot  %s\nwant %s", at, i, got[i], w)
			}
		}
		same(t, "pages", lines(c.pages(fork, 1)), lines(c.get(fork)))
	}
	same(t, "the parent", lines(c.get(id)), lines(parent))
}

func TestForkGoesOn(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	id := c.thread()
	c.start(id, "one")
	c.until("turn.completed")
	var r struct{ Thread struct{ ThreadID string } }
	c.must(&r, "thread.fork", fmt.Sprintf(`{"threadId":%q}`, id))
	c.start(r.Thread.ThreadID, "two")
	c.until("turn.completed")
	if n := len(c.get(id)); strings.Count(text(c.get(r.Thread.ThreadID)), "turn.completed") != 2 || n != 8 {
		t.Errorf("the parent has %d events; the fork:\n%s", n, text(c.get(r.Thread.ThreadID)))
	}
}

func TestPauseHoldsTheNextTurn(t *testing.T) {
	t.Parallel()
	sv := serve(t, "gate go\nsay x\n")
	c := sv.connect()
	id := c.thread()
	th := fmt.Sprintf(`{"threadId":%q}`, id)
	c.start(id, "one")
	c.must(nil, "turn.start", fmt.Sprintf(`{"threadId":%q,"queue":true,"input":[{"type":"text","text":"two"}]}`, id))
	c.must(nil, "thread.pause", th)
	sv.engine.Open("go")
	c.until("turn.completed")
	var h struct {
		Status string
		Queued int
	}
	for c.must(&h, "thread.health", th); h.Status != "paused"; c.must(&h, "thread.health", th) {
		continue
	}
	if h.Queued != 1 {
		t.Errorf("%+v", h)
	}
	c.must(nil, "thread.resume", th)
	c.until("turn.completed")
}

func TestSteerSpeaksToTheTurn(t *testing.T) {
	t.Parallel()
	c := serve(t, "say working\nsteer\n").connect()
	id := c.thread()
	input := fmt.Sprintf(`{"threadId":%q,"input":[{"type":"text","text":"faster"}]}`, id)
	c.refused(-32003, "not_running", "turn.steer", input)
	c.start(id, "go")
	c.until("item.delta")
	c.must(nil, "turn.steer", input)
	c.until("turn.completed")
	if s := c.story(); !strings.Contains(s, `"source":"steer"`) || !strings.Contains(s, `steered: faster`) {
		t.Errorf("%s", s)
	}
	balanced(t, c.notes(id))
}

// Pages of the list go through all threads once, also while they move.
func TestListInPages(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	made := map[string]bool{}
	for range 1000 {
		made[c.thread()] = true
	}
	for _, limit := range []int{1000, 333, 100, 7} {
		seen := map[string]bool{}
		for cursor := ""; ; {
			var r struct {
				Threads    []struct{ ThreadID string }
				NextCursor string
			}
			c.must(&r, "thread.list", fmt.Sprintf(`{"limit":%d,"cursor":%q}`, limit, cursor))
			for _, th := range r.Threads {
				if seen[th.ThreadID] || !made[th.ThreadID] {
					t.Fatalf("%s again or unknown", th.ThreadID)
				}
				seen[th.ThreadID] = true
			}
			if r.NextCursor == "" {
				break
			}
			cursor = r.NextCursor
		}
		if len(seen) != len(made) {
			t.Errorf("pages of %d: %d threads", limit, len(seen))
		}
	}
	var r struct {
		Threads []struct {
			ThreadID string
			Time     struct{ Updated int64 }
		}
		NextCursor string
	}
	c.must(&r, "thread.list", `{"limit":10}`)
	moved := r.Threads[9].ThreadID
	c.must(nil, "thread.configure", fmt.Sprintf(`{"threadId":%q,"config":{"model":"m"}}`, moved))
	first := r.Threads[0].ThreadID
	cursor := r.NextCursor
	c.must(&r, "thread.list", fmt.Sprintf(`{"limit":10,"cursor":%q}`, cursor))
	if len(r.Threads) != 10 || r.Threads[0].ThreadID == first || r.Threads[0].ThreadID == moved {
		t.Errorf("the second page begins with %s", r.Threads[0].ThreadID)
	}
}
