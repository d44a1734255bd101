package rpc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// records turns what thread.get returned into what was sent: method and params.
func records(t testing.TB, events []json.RawMessage) []string {
	t.Helper()
	var list []string
	for _, e := range events {
		i := bytes.LastIndex(e, []byte(`,"notification":"`))
		var r struct {
			Notification string
			Timestamp    int64
		}
		if err := json.Unmarshal(e, &r); err != nil || i < 0 || r.Timestamp == 0 {
			t.Fatalf("record %s: %v", e, err)
		}
		list = append(list, r.Notification+" "+string(e[:i])+"}")
	}
	return list
}

// thread.get in pages of a size.
func (c *client) pages(id string, limit int) []json.RawMessage {
	c.t.Helper()
	var all []json.RawMessage
	for after := 0; ; {
		var r struct {
			Events []json.RawMessage
			Next   int
		}
		c.must(&r, "thread.get", fmt.Sprintf(`{"threadId":%q,"after":%d,"limit":%d}`, id, after, limit))
		all = append(all, r.Events...)
		if r.Next == 0 {
			return all
		}
		if r.Next <= after || len(r.Events) < limit {
			c.t.Fatalf("page after %d: %d events, next %d", after, len(r.Events), r.Next)
		}
		after = r.Next
	}
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%s: number %d of %d and %d\ngot  %s\nwant %s", what, i, len(got), len(want), g, w)
		}
	}
}

// play is a random script in which everything happens that S4 has a word for.
func play(r *rand.Rand) string {
	lines := []string{
		"say one", "say \"zwei \"", "think Hm.", "reflect Well.", "type a few words more",
		`call read {"path":"a"} => text`, `ask write {"path":"b"} => written`, `ask bash {"command":"x"} access=execute "why"`,
		"usage 10 20 0.5", `emit artifact {"artifact_id":"art_%d","artifact_type":"diff","title":"t"}`,
		"tool slow\nlog a\nsay between\nlog b\nresult long\nsay late\noutcome ok", "tool bad\noutcome error broken", "tool t\noutcome timeout 3s",
		"response", "response The whole.", "checkpoint", `step 1/2 "first" running`, "listen",
	}
	var b strings.Builder
	for part := range 1 + r.IntN(3) {
		if part > 0 {
			b.WriteString("===\n")
		}
		for n := range r.IntN(10) {
			l := lines[r.IntN(len(lines))]
			if strings.Contains(l, "%d") {
				l = fmt.Sprintf(l, part*100+n)
			}
			b.WriteString(l + "\n")
		}
		switch r.IntN(6) {
		case 0:
			b.WriteString("fail broken\n")
		case 1:
			b.WriteString("say CANCEL\nhang\n")
		}
	}
	return b.String()
}

// What was told live, to whoever listened from whenever on, is what thread.get
// returns, in pages of any size, now and after a crash. Every item that began
// has ended once when its turn has.
func TestThreadGetIsWhatWasSent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			src := play(r)
			sv := serve(t, src)
			a, b := sv.connect(), sv.connect()
			id := a.thread()
			b.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q,"after":0}`, id))
			for range 1 + r.IntN(3) {
				a.start(id, "go")
				a.attend(r, id, !strings.Contains(src, "hang") && !strings.Contains(src, "fail"))
			}
			got := a.get(id)
			for len(a.notes(id)) < len(got) {
				a.read()
			}
			told := a.notes(id)
			balanced(t, told)
			same(t, "thread.get", records(t, got), told)
			for b.sync(); len(b.notes(id)) < len(told); {
				b.read()
			}
			same(t, "another listener", b.notes(id), told)
			for _, limit := range []int{1, 2, 3, 7, len(got), len(got) + 1} {
				same(t, fmt.Sprintf("pages of %d", limit), lines(a.pages(id, limit)), lines(got))
			}
			c := sv.connect() // and begins anywhere
			for range 10 {
				at := r.IntN(seqOf(got[len(got)-1]) + 1)
				var page struct{ Events []json.RawMessage }
				c.must(&page, "thread.get", fmt.Sprintf(`{"threadId":%q,"after":%d}`, id, at))
				same(t, fmt.Sprintf("after %d", at), lines(page.Events), lines(behind(got, at)))
			}
			d := sv.crash(src).connect()
			same(t, "after a crash", lines(d.get(id)), lines(got))
		})
	}
}

// attend does what a person would, until nothing more happens in the thread.
func (c *client) attend(r *rand.Rand, id string, steer bool) {
	c.t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for done := len(c.seen); time.Now().Before(deadline); <-tick.C {
		var h struct{ Status string }
		c.must(&h, "thread.health", fmt.Sprintf(`{"threadId":%q}`, id))
		if h.Status == "idle" || h.Status == "failed" {
			return
		}
		for ; done < len(c.seen); done++ {
			c.react(c.seen[done], r, id, steer)
		}
	}
	c.t.Fatalf("the thread does not come to rest:\n%s", c.story())
}

func (c *client) react(l line, r *rand.Rand, id string, steer bool) {
	c.t.Helper()
	switch {
	case l.Method == "approval.requested":
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":"approval.respond","params":{"requestId":%q,"decision":%q}}`,
			approval(l), []string{"once", "always", "reject"}[r.IntN(3)]))
	case l.Method == "turn.started" && steer && r.IntN(2) == 0:
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":"turn.steer","params":{"threadId":%q,"input":[{"type":"text","text":"faster"}]}}`, id))
	case l.Method == "item.delta" && strings.Contains(l.raw, "CANCEL"):
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":"turn.cancel","params":{"threadId":%q}}`, id))
	}
}

// balanced checks that what began has ended, once, in its turn.
func balanced(t testing.TB, told []string) {
	t.Helper()
	open := map[string]string{}
	turn := ""
	for _, n := range told {
		method, params, _ := strings.Cut(n, " ")
		var p struct {
			TurnID, ItemID string
			Item           struct{ TurnID, ItemID, Type string }
		}
		json.Unmarshal([]byte(params), &p)
		switch method {
		case "turn.started":
			if turn != "" || len(open) > 0 {
				t.Fatalf("in turn %q with open items %v: %s", turn, open, n)
			}
			turn = p.TurnID
		case "turn.completed", "turn.error":
			if turn != p.TurnID || len(open) > 0 {
				t.Fatalf("in turn %q with open items %v: %s", turn, open, n)
			}
			turn = ""
		case "item.started":
			if _, twice := open[p.Item.ItemID]; twice || p.Item.TurnID != turn {
				t.Fatalf("in turn %q with open items %v: %s", turn, open, n)
			}
			open[p.Item.ItemID] = p.Item.Type
		case "item.completed":
			if _, ok := open[p.ItemID]; !ok || p.TurnID != turn {
				t.Fatalf("in turn %q with open items %v: %s", turn, open, n)
			}
			delete(open, p.ItemID)
		}
	}
}

func lines(events []json.RawMessage) []string {
	var list []string
	for _, e := range events {
		list = append(list, string(e))
	}
	return list
}

func seqOf(e json.RawMessage) int {
	var r struct{ Seq int }
	json.Unmarshal(e, &r)
	return r.Seq
}

// behind is what of a history comes after a position.
func behind(events []json.RawMessage, at int) []json.RawMessage {
	return slices.DeleteFunc(slices.Clone(events), func(e json.RawMessage) bool { return seqOf(e) <= at })
}
