package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// firstSeen notes, by the page's own clock, when the frame that first shows the
// newest message is painted: nobody has to look in time.
const firstSeen = `(() => {
  const look = new MutationObserver(() => {
    if (!` + newest + `.includes("word39")) return;
    look.disconnect();
    requestAnimationFrame(() => (window.seenAt = performance.now()));
  });
  look.observe(document, { subtree: true, childList: true, characterData: true });
})()`

// painted is true when what was changed is on the screen.
const painted = "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))"

// Flow 6: a log of a hundred thousand events is opened, and any place of it gone
// to, at the price of a short one.
func TestALongSessionOpensLikeAShortOne(t *testing.T) {
	inFull(t)
	t.Parallel()
	const events = 100_000
	h := newHouse(t)
	id := h.imported(t, long(events))
	p := h.visit(t, "/")
	p.CountCPU()
	p.onEveryPage(firstSeen)
	traffic := p.CountTraffic()
	p.goTo("/s/" + id)
	p.until("window.seenAt > 0")
	spent := p.CPU()
	p.see("aside ol li") // what had begun before is over
	fetched, told, after := traffic.Split(eval[float64](p, "seenAt"))
	if told == 0 {
		t.Error("nothing was told over a WebSocket")
	}
	bound(t, fmt.Sprintf("%d events opened: everything that is sent", events), float64(fetched+told)/1000, 200, "kB")
	bound(t, fmt.Sprintf("%d events opened: of that the state", events), float64(told)/1000, 200, "kB")
	t.Logf("fetched when that was painted: %s", strings.Join(after, ", "))
	gate(t, fmt.Sprintf("%d events opened: main thread", events), inMS(spent), 250, "ms")
	bound(t, "elements of the conversation", eval[float64](p, `document.querySelectorAll('[data-testid="thread"] *').length`), 300, "")
	p.goTo("/s/" + id + "/timeline")
	p.until(`document.querySelectorAll('[role="row"]').length > 20`)
	asked := func() int {
		return eval[int](p, `performance.getEntriesByType("resource").filter((e) => e.name.includes("/events?")).length`)
	}
	var jumps []time.Duration
	for _, seq := range []int{1, events / 2, events * 3 / 4, events, events / 3, events / 10, events * 9 / 10} {
		before, spent := asked(), p.CPU()
		eval[bool](p, fmt.Sprintf(`((to) => (to.value = "%d", to.form.requestSubmit(), true))(document.querySelector('input[name="to"]'))`, seq))
		p.until(fmt.Sprintf(`[...document.querySelectorAll('[role="row"][aria-selected="true"]')].some((r) => Number(r.dataset.seq) <= %d && Number(r.dataset.seq) > %d)`, seq, seq-50))
		p.until(fmt.Sprintf(`new URL(location.href).searchParams.get("seq") === "%d"`, seq))
		eval[bool](p, painted)
		jumps = append(jumps, p.CPU()-spent)
		if n := asked() - before; n > 1 {
			t.Errorf("event %d: %d requests", seq, n)
		}
	}
	bound(t, "elements of the timeline", eval[float64](p, `document.querySelectorAll('[role="grid"] *').length`), 300, "")
	slices.Sort(jumps)
	gate(t, "a jump in them, median of seven, main thread", inMS(jumps[len(jumps)/2]), 30, "ms")
	p.shot("long-timeline")
	p.goTo("/s/" + id + "/timeline?filter=tools")
	p.read("make step-")
	p.goTo("/s/" + id)
	p.until(newest + `.includes("word39")`)
	eval[bool](p, `(document.querySelector('[data-testid="thread"]').dispatchEvent(new WheelEvent("wheel", { deltaY: -100 })), document.querySelector('[data-testid="thread"]').scrollTop = 0, true)`)
	p.until(`document.querySelectorAll('article').length > 0 && document.querySelector('[data-testid="thread"]').scrollTop > 0`)
	p.shot("long-chat")
}
