package browser

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// gate tells a time and what it may be at most; make gates prints them all.
// Where LONG=1 it fails: it is CPU time if it can be, and yet a busy machine
// moves it.
func gate(t testing.TB, what string, got, most float64, unit string) {
	t.Helper()
	if os.Getenv("LONG") != "" {
		bound(t, what, got, most, unit)
		return
	}
	t.Logf("gate  %-62s %9.2f  at most %6g %s", what, got, most, unit)
}

// bound is a gate for what does not depend on the machine: bytes of what was
// asked for, elements of a page. It always fails.
func bound(t testing.TB, what string, got, most float64, unit string) {
	t.Helper()
	t.Logf("gate  %-62s %9.2f  at most %6g %s", what, got, most, unit)
	if got > most {
		t.Errorf("%s: %.2f %s, at most %g", what, got, unit, most)
	}
}

func inMS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// share is how much of a core the page takes while nothing is asked of it, in
// percent.
func (p *page) share(during time.Duration) float64 {
	p.t.Helper()
	before := p.CPU()
	eval[bool](p, fmt.Sprintf("new Promise((r) => setTimeout(() => r(true), %d))", during.Milliseconds()))
	return 100 * float64(p.CPU()-before) / float64(during)
}

// TestAPageThatStandsStillCostsNothing is about CPU time and memory of a page
// that is opened, and on which nothing happens.
func TestAPageThatStandsStillCostsNothing(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures it")
	}
	h := newHouse(t)
	id := h.imported(t, talk(2000))
	p := h.visit(t, "/")
	p.CountCPU()
	p.CountTraffic() // and so without its cache
	p.goTo("/s/" + id)
	p.see(composer)
	gate(t, "first load until one can write, main thread", inMS(p.CPU()), 200, "ms")
	p.until(`document.querySelectorAll("article").length > 3`)
	gate(t, "a session on which nothing happens, 10 s", p.share(10*time.Second), 1, "% of a core")
	gate(t, "heap with 2,000 messages", p.Heap()/1e6, 15, "MB")
}

// heard counts the rows that a page's streams tell of.
const heard = `(() => {
  const Real = EventSource;
  window.rows = 0;
  window.EventSource = class extends Real { constructor(...args) { super(...args); this.addEventListener("session", () => rows++); } };
})()`

// TestALongListIsCheap: five hundred sessions, of which some change fifty times a
// second, all together.
func TestALongListIsCheap(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures it")
	}
	h := newHouse(t)
	for i := range 500 {
		h.session(fmt.Sprintf("Session %d", i), "", nil)
	}
	p := h.visit(t, "/")
	p.onEveryPage(heard)
	p.goTo("/")
	p.CountCPU()
	p.read("Session 499")
	for i := range 7 { // each says some 40 pieces a second, and a list is told of it ten times
		h.session(fmt.Sprintf("Busy %d", i), "count to 800", nil)
	}
	p.read("Busy 6")
	before, began := eval[int](p, "rows"), time.Now()
	share := p.share(8 * time.Second)
	rate := float64(eval[int](p, "rows")-before) / time.Since(began).Seconds()
	if rate < 50 {
		t.Errorf("the page was told of %.0f changes a second, not 50", rate)
	}
	gate(t, fmt.Sprintf("500 sessions, %.0f changes a second", rate), share, 10, "% of a core")
	if n := eval[int](p, "document.querySelectorAll('[data-session]').length"); n > 100 {
		t.Errorf("%d rows are made", n)
	}
}
