package browser

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Flow 6: a log of a hundred thousand events (with LONG=1; else of twenty
// thousand) is opened, and any place of it gone to, at the price of a short one.
func TestALongSessionOpensLikeAShortOne(t *testing.T) {
	inFull(t)
	t.Parallel()
	events := 20_000
	if os.Getenv("LONG") != "" {
		events = 100_000
	}
	h := newHouse(t)
	id := h.imported(t, long(events))
	p := h.visit(t, "/")
	p.CountCPU()
	p.goTo("/s/" + id)
	p.until(newest + `.includes("word39")`)
	moved := eval[int](p, `performance.getEntriesByType("resource").filter((e) => !e.name.includes("/console/")).reduce((n, e) => n + e.transferSize, 0)`)
	t.Logf("opened with %d bytes over HTTP, %v of CPU since the tab began", moved, p.CPU())
	if moved > 200_000 {
		t.Errorf("%d bytes before the first screen", moved)
	}
	if n := eval[int](p, `document.querySelectorAll('[data-testid="thread"] *').length`); n > 1500 {
		t.Errorf("%d elements in the thread", n)
	}
	p.goTo("/s/" + id + "/timeline")
	p.until(`document.querySelectorAll('[role="row"]').length > 20`)
	asked := func() int {
		return eval[int](p, `performance.getEntriesByType("resource").filter((e) => e.name.includes("/events?")).length`)
	}
	for _, seq := range []int{1, events / 2, events * 3 / 4, events} {
		before, spent := asked(), p.CPU()
		p.do("jump", chromedp.SetValue(`input[name="to"]`, fmt.Sprint(seq)))
		eval[bool](p, `document.querySelector('input[name="to"]').form.requestSubmit(), true`)
		p.until(fmt.Sprintf(`[...document.querySelectorAll('[role="row"][aria-selected="true"]')].some((r) => Number(r.dataset.seq) <= %d)`, seq))
		p.until(fmt.Sprintf(`new URL(location.href).searchParams.get("seq") === "%d"`, seq))
		t.Logf("event %d: %d requests, %v of CPU", seq, asked()-before, p.CPU()-spent)
		if n := asked() - before; n > 1 {
			t.Errorf("event %d: %d requests", seq, n)
		}
		if n := eval[int](p, `document.querySelectorAll('[role="row"]').length`); n > 300 {
			t.Errorf("%d rows are made", n)
		}
	}
	p.shot("long-timeline")
	p.goTo("/s/" + id + "/timeline?filter=tools")
	p.read("make step-")
	p.goTo("/s/" + id)
	p.until(newest + `.includes("word39")`)
	eval[bool](p, `(document.querySelector('[data-testid="thread"]').dispatchEvent(new WheelEvent("wheel", { deltaY: -100 })), document.querySelector('[data-testid="thread"]').scrollTop = 0, true)`)
	p.until(`document.querySelectorAll('article').length > 0 && document.querySelector('[data-testid="thread"]').scrollTop > 0`)
	p.shot("long-chat")
}

// TestAnUpdateCostsTheSameInAnyConversation compares the CPU time of a piece of
// text in a short conversation with that in a long one.
func TestAnUpdateCostsTheSameInAnyConversation(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures what a piece of text costs")
	}
	h := newHouse(t)
	cost := map[int]time.Duration{}
	for _, n := range []int{200, 10_000} {
		id := h.imported(t, talk(n))
		p := h.visit(t, "/s/"+id)
		p.CountCPU()
		p.until(`document.querySelector('[data-testid="line"]')?.dataset.phase === "open" && document.querySelectorAll("article").length > 3`)
		h.call("POST", "/chat/sessions/"+id+"/turns", fields{"prompt": "count to 250"}, nil)
		p.until(newest + `.includes("5 ")`)
		begin, spent := h.tokens(id), p.CPU()
		h.until(id, "an end", idle)
		p.until(newest + `.includes("250")`)
		cost[n] = (p.CPU() - spent) / time.Duration(max(1, h.tokens(id)-begin))
		t.Logf("%d messages: %v of CPU for each of %d pieces of text", n, cost[n], h.tokens(id)-begin)
	}
	if cost[10_000] > cost[200]*3/2 {
		t.Errorf("10,000 messages cost %v, 200 cost %v", cost[10_000], cost[200])
	}
}

// tokens is how many pieces of text a session has said.
func (h *house) tokens(id string) (n int) {
	h.t.Helper()
	var r row
	h.call("GET", "/sessions/"+id, nil, &r)
	var page struct{ Events []logged }
	h.call("GET", fmt.Sprintf("/sessions/%s/events?types=token&limit=1000&after=%d", id, max(0, r.Seq-1000)), nil, &page)
	return len(page.Events)
}
