package browser

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// share is how much of a core the page takes while nothing is asked of it.
func (p *page) share(during time.Duration) float64 {
	p.t.Helper()
	before := p.CPU()
	eval[bool](p, fmt.Sprintf("new Promise((r) => setTimeout(() => r(true), %d))", during.Milliseconds()))
	return float64(p.CPU()-before) / float64(during)
}

// TestAPageThatStandsStillCostsNothing is about CPU time and memory of a page
// on which nothing happens, and of a list of many sessions on which much does.
func TestAPageThatStandsStillCostsNothing(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures it")
	}
	h := newHouse(t)
	id := h.imported(t, talk(2000))
	p := h.visit(t, "/s/"+id)
	p.CountCPU()
	p.until(`document.querySelectorAll("article").length > 3`)
	share := p.share(10 * time.Second)
	t.Logf("a session that stands still: %.2f %% of a core", 100*share)
	if share > 0.01 {
		t.Errorf("%.2f %% of a core for nothing", 100*share)
	}
	mb := p.Heap() / 1e6
	t.Logf("2,000 messages: %.1f MB", mb)
	if mb > 15 {
		t.Errorf("%.1f MB for 2,000 messages", mb)
	}
}

// TestALongListIsCheap: five hundred sessions, some of which change all the time.
func TestALongListIsCheap(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures it")
	}
	h := newHouse(t)
	for i := range 500 {
		h.session(fmt.Sprintf("Session %d", i), "", nil)
	}
	p := h.visit(t, "/")
	p.CountCPU()
	p.read("Session 499")
	for i := range 4 { // each says some 40 pieces a second
		h.session(fmt.Sprintf("Busy %d", i), "count to 600", nil)
	}
	p.read("Busy 3")
	share := p.share(8 * time.Second)
	t.Logf("500 sessions, 4 of which write: %.1f %% of a core", 100*share)
	if share > 0.10 {
		t.Errorf("%.1f %% of a core for a list", 100*share)
	}
	if n := eval[int](p, "document.querySelectorAll('[data-session]').length"); n > 100 {
		t.Errorf("%d rows are made", n)
	}
}
