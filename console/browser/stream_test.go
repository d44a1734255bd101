package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"

	"harness/internal/browsertest"
)

// paced notes for every message of a page's sockets how long it took until what
// it said was painted.
const paced = `(() => {
  const Real = WebSocket;
  window.lags = [];
  let first;
  window.WebSocket = class extends Real {
    constructor(...args) {
      super(...args);
      this.addEventListener("message", () => {
        if (first !== undefined) return;
        first = performance.now();
        requestAnimationFrame(() => setTimeout(() => { window.lags.push(performance.now() - first); first = undefined; }));
      });
    }
  };
})()`

// TestAThousandDeltasASecond: the server puts what agents say within a frame
// into one delta; here a page gets a thousand of them a second, of one operation
// each, for half a minute.
func TestAThousandDeltasASecond(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures it")
	}
	const rate, during = 1000, 30 * time.Second
	h := newHouse(t)
	p := h.visit(t, "/").tapped("/s/" + h.imported(t, talk(200)))
	spent, at := p.CPU(), time.Now()
	told := 0
	for time.Since(at) < during { // none of it waits longer than a page may
		told += eval[int](p, fmt.Sprintf("flood(%d, 5000)", rate))
	}
	wall := time.Since(at)
	gate(t, "1,000 deltas a second for 30 s: the conversation", 100*float64(p.CPU()-spent)/float64(wall), 35, "% of a core")
	if got := float64(told) / wall.Seconds(); got < 0.95*rate {
		t.Errorf("%.0f deltas a second", got)
	}
	p.until(fmt.Sprintf("%s.split('tokn').length === %d", newest, told+1)) // nothing is lost, nothing twice
}

// TestAThousandPiecesASecond: an agent says ten words every few milliseconds, as
// the machine lets it, for half a minute, in paragraphs of a hundred, while one
// page shows the conversation with its side panel and somebody writes there,
// another the timeline, and a third the inspector. Each word is a piece of the
// agent's own; the server puts them together.
func TestAThousandPiecesASecond(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures it")
	}
	play := filepath.Join(t.TempDir(), "play.script")
	if err := os.WriteFile(play, []byte("repeat 1000\nrepeat 10\nstream 10 0s \"word \"\nwait 5ms\nend\nsay \"\\n\\n\"\nend\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, "--engine", "script:"+play)
	id := h.session("A thousand a second", "", nil)
	chat, timeline, inspector := h.visit(t, "/"), h.visit(t, "/s/"+id+"/timeline"), h.visit(t, "/s/"+id+"/inspect?seq=1")
	chat.onEveryPage(paced)
	chat.goTo("/s/" + id)
	chat.see(`[data-testid="line"][data-phase="open"]`)
	chat.CountCPU()
	timeline.CountCPU()
	inspector.CountCPU()
	before := chat.Heap()

	began := time.Now()
	h.call("POST", "/chat/sessions/"+id+"/turns", fields{"prompt": "go"}, nil)
	chat.until(newest + `.includes("word")`)
	spent, spentThere, spentInside, at := chat.CPU(), timeline.CPU(), inspector.CPU(), time.Now()
	var quiet, typing time.Duration
	keys := 0
	chat.see(steering)
	eval[bool](chat, "document.querySelector("+quote(steering)+").focus(), true")
	for time.Since(began) < 30*time.Second {
		quiet += chat.during(time.Second)
		typing += chat.during(time.Second, func() {
			for range 10 {
				browsertest.Call(chat.Page, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "x", Text: "x"})
				browsertest.Call(chat.Page, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: "x"})
				keys++
			}
		})
	}
	wall := time.Since(at)
	share := 100 * float64(chat.CPU()-spent-(typing-quiet)) / float64(wall)
	shareThere := 100 * float64(timeline.CPU()-spentThere) / float64(wall)
	shareInside := 100 * float64(inspector.CPU()-spentInside) / float64(wall)
	h.call("POST", "/sessions/"+id+"/cancel", fields{}, nil)
	h.until(id, "an end", func(r row) bool { return r.Status != "running" })
	said := strings.Count(string(h.messages(id)[1]), "word")
	chat.until(fmt.Sprintf(`%s.split("word").length === %d`, newest, said+1)) // nothing is lost, nothing twice
	rate := float64(said) / wall.Seconds()
	if rate < 1000 {
		t.Errorf("the agent said %.0f pieces a second, not 1,000", rate)
	}
	many := fmt.Sprintf("%.0f pieces a second for 30 s: ", rate)
	gate(t, many+"the conversation", share, 35, "% of a core")
	gate(t, many+"the timeline", shareThere, 35, "% of a core")
	gate(t, many+"the inspector", shareInside, 35, "% of a core")
	gate(t, many+"a key meanwhile", inMS(max(0, typing-quiet)/time.Duration(keys)), 8, "ms")
	gate(t, many+"what the page has grown", (chat.Heap()-before)/1e6, 20, "MB")
	lag := eval[float64](chat, "lags.sort((a, b) => a - b)[Math.floor(lags.length * 0.95)]")
	gate(t, many+"from a message to its paint, p95 by the clock", lag, 100, "ms")
	if got := eval[int](chat, "document.querySelector("+quote(composer+", "+steering)+").value.length"); got != keys {
		t.Errorf("%d of %d keys arrived", got, keys)
	}
}

// during is the page's CPU time in a second, say, in which something is done.
func (p *page) during(d time.Duration, do ...func()) time.Duration {
	p.t.Helper()
	before, end := p.CPU(), time.Now().Add(d)
	for _, f := range do {
		f()
	}
	eval[bool](p, fmt.Sprintf("new Promise((r) => setTimeout(() => r(true), %d))", max(0, time.Until(end).Milliseconds())))
	return p.CPU() - before
}
