package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"harness/internal/browsertest"
)

// wire lets a test speak in the server's place: from the first of its updates on
// the page hears nothing else. An update is one word more in a message that
// streams, and is over when it is painted; a flood is so many a second, each a
// message of its own.
const wire = `(() => {
  const Real = WebSocket;
  let line, told, place;
  class Tapped extends Real {
    constructor(...args) { super(...args); line = this; }
    set onmessage(f) {
      this.hear = f;
      super.onmessage = f === null ? null : (e) => {
        if (place !== undefined) return;
        const m = JSON.parse(e.data);
        if (m.type === "state") line.messages = m.state.messages.length;
        if (m.seq !== undefined) told = m.seq;
        f(e);
      };
    }
  }
  window.WebSocket = Tapped;
  const tell = (...operations) => line.hear({ data: JSON.stringify({ type: "delta", seq: ++told, operations }) });
  const begin = () => {
    if (place !== undefined) return;
    place = String(line.messages);
    tell({ type: "set", path: ["status"], value: "running" }, { type: "set", path: ["messages", place], value: { id: "itm_live", role: "assistant", content: "", status: "streaming" } });
  };
  const word = (text) => tell({ type: "append-text", path: ["messages", place, "content"], value: text });
  window.updates = async (n) => {
    begin();
    for (let i = 0; i < n; i++) {
      word("tokn ");
      for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
    }
  };
  window.flood = async (rate, ms) => {
    begin();
    let n = 0;
    for (const from = performance.now(), end = from + ms; performance.now() < end; await new Promise((r) => setTimeout(r, 10)))
      for (const due = ((performance.now() - from) * rate) / 1000; n < due; n++) word(n % 100 === 99 ? "tokn\n\n" : "tokn ");
    return n;
  };
})()`

// shown is a conversation in one way of showing it.
type shown struct {
	by       string
	messages int
}

const (
	console  = "console"
	windowed = "assistant-ui, window of 64"
	whole    = "assistant-ui, all messages"
)

// TestAnUpdateCostsTheSameInAnyConversation has the same conversations, of a
// real server, in the console and in assistant-ui's own runtime, and compares
// what one more word costs the main thread.
func TestAnUpdateCostsTheSameInAnyConversation(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures what a piece of text costs")
	}
	h, cost := newHouse(t), map[shown]time.Duration{}
	rival := rivalPage(t)
	for _, n := range []int{200, 2_000, 10_000} {
		id := h.imported(t, talk(n))
		cost[shown{console, n}] = h.visit(t, "/").tapped("/s/" + id).update(20)
		cost[shown{windowed, n}] = h.visit(t, "/").tapped("/chat/" + id).update(20)
		if n <= 2_000 {
			cost[shown{whole, n}] = rival(h, id).update(2)
		}
		for _, by := range []string{console, windowed, whole} {
			if d, measured := cost[shown{by, n}]; measured {
				t.Logf("an update, %d messages, %s: %.1f ms", n, by, inMS(d))
			}
		}
	}
	short, ours, long := cost[shown{console, 200}], cost[shown{console, 2_000}], cost[shown{console, 10_000}]
	gate(t, "an update, 2,000 messages, main thread", inMS(ours), 6, "ms")
	gate(t, "an update, 10,000 messages, main thread", inMS(long), 6, "ms")
	gate(t, "an update, 10,000 messages for 200", float64(long)/float64(short), 1.3, "×")
	gate(t, "an update, 2,000 messages for assistant-ui's", float64(ours)/float64(cost[shown{whole, 2_000}]), 0.1, "×")
}

// tapped goes to a path of the console with the wire in it, and waits until the
// conversation is shown.
func (p *page) tapped(path string) *page {
	p.t.Helper()
	p.onEveryPage(wire)
	p.CountCPU()
	p.goTo(path)
	p.read("Answer")
	return p
}

// update is what one costs: the least of some rounds of n.
func (p *page) update(n int) (least time.Duration) {
	p.t.Helper()
	round := fmt.Sprintf("updates(%d).then(() => true)", n)
	eval[bool](p, round)
	for range 5 {
		before := p.CPU()
		eval[bool](p, round)
		if d := (p.CPU() - before) / time.Duration(n); least == 0 || d < least {
			least = d
		}
	}
	p.until(fmt.Sprintf("document.body.innerText.split('tokn').length === %d", 6*n+1))
	return least
}

// rivalPage is a page of assistant-ui's, which is given all messages of a
// session.
func rivalPage(t *testing.T) func(h *house, id string) *page {
	t.Helper()
	url, dir := browsertest.Rival(t, "../../client/ts")
	return func(h *house, id string) *page {
		all, err := json.Marshal(map[string]any{"messages": h.messages(id)})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, id+".json"), all, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		p := &page{Page: chromium.Open(t), t: t, h: h}
		p.CountCPU()
		p.do("open", chromedp.Navigate(url+"/?snapshot="+id+".json"))
		p.read("Answer")
		return p
	}
}

// messages is a session's whole conversation.
func (h *house) messages(id string) (all []json.RawMessage) {
	h.t.Helper()
	for before := 1 << 30; before > 0; {
		var page struct {
			First    int               `json:"first_message"`
			Messages []json.RawMessage `json:"messages"`
		}
		h.call("GET", fmt.Sprintf("/sessions/%s/messages?limit=200&before=%d", id, before), nil, &page)
		before, all = page.First, append(page.Messages, all...)
	}
	return all
}
