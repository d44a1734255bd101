package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"harness/store/memory"
)

// From any position on, every notification exactly once, then live ones.
func TestSubscribeAfterHasNoGapAndNoDuplicate(t *testing.T) {
	t.Parallel()
	sv := serve(t, "repeat 300\nsay x\ncall read => y\nend\n")
	a := sv.connect()
	id := a.thread()
	a.start(id, "go")
	var late []*client
	for i := range 20 { // they join while the log grows
		a.until("item.delta")
		c := sv.connect()
		after := i * 7
		if after > seqOf(a.seen[len(a.seen)-1].Params) {
			after = 0
		}
		c.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q,"after":%d}`, id, after))
		late = append(late, c)
	}
	a.until("turn.completed")
	all := a.get(id)
	for i, c := range late {
		c.until("turn.completed")
		var r struct{ Seq int }
		json.Unmarshal(c.seen[0].Result, &r)
		same(t, fmt.Sprintf("client %d after %d", i, r.Seq), c.notes(id), records(t, behind(all, r.Seq)))
	}
}

// Who subscribes again with a position is told from there on again; who
// subscribes again without one misses nothing.
func TestSubscribeAgain(t *testing.T) {
	t.Parallel()
	c := serve(t, "say a\ncall read => y\n").connect()
	id := c.thread()
	c.start(id, "go")
	c.until("turn.completed")
	all := records(t, c.get(id))
	for range 3 {
		c.sync()
		c.seen = nil
		c.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q,"after":0}`, id))
		c.until("turn.completed")
		same(t, "again", c.notes(id), all)
	}
	c.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q}`, id))
	c.start(id, "go")
	c.until("turn.completed")
	c.sync()
	same(t, "and on", c.notes(id), records(t, c.get(id)))
}

func TestUnsubscribeEndsTheTelling(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo")
	a, b := sv.connect(), sv.connect()
	id := a.thread()
	b.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q}`, id))
	b.must(nil, "thread.unsubscribe", fmt.Sprintf(`{"threadId":%q}`, id))
	a.start(id, "go")
	a.until("turn.completed")
	b.sync()
	if n := b.notes(id); len(n) != 0 {
		t.Errorf("told %v", n)
	}
}

// A client that speaks S4 alone: thread.get, and then it is told what follows.
func TestThreadGetFollowsTheThread(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo")
	a, b := sv.connect(), sv.connect()
	id := a.thread()
	a.start(id, "one")
	a.until("turn.completed")
	first := records(t, b.get(id))
	a.start(id, "two")
	a.until("turn.completed")
	b.until("turn.completed")
	same(t, "get and told", append(first, b.notes(id)...), records(t, a.get(id)))
}

// An approval that waits is announced again, with its first id and place, to
// whoever comes to the thread after a restart, and can be answered.
func TestPendingApprovalIsAnnouncedAgain(t *testing.T) {
	t.Parallel()
	const src = "say before\nask bash {\"command\":\"ls\"} \"List\" => a b\nsay after\n"
	sv := serve(t, src)
	c := sv.connect()
	id := c.thread()
	c.start(id, "go")
	asked := c.until("approval.requested")
	for how, method := range map[string]string{"subscribe": "thread.subscribe", "get": "thread.get"} {
		sv2 := serveOn(t, sv.store.(*memory.Store).Clone(), src)
		d := sv2.connect()
		d.must(nil, method, fmt.Sprintf(`{"threadId":%q}`, id))
		if again := d.until("approval.requested"); string(again.Params) != string(asked.Params) {
			t.Errorf("%s: announced %s\nfirst     %s", how, again.Params, asked.Params)
		}
		d.must(nil, "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"once"}`, approval(asked)))
		d.until("turn.completed")
		replay := text(d.get(id))
		if strings.Count(replay, `"notification":"approval.requested"`) != 1 || !strings.Contains(replay, `"reply":"once"`) {
			t.Errorf("%s: %s", how, replay)
		}
	}
}
