package browser

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// streams is how many event streams the server has open.
func (h *house) streams() string {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), "GET", h.url+"/metrics", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `harness_watchers{protocol="sse"} `)
	n, _, _ := strings.Cut(rest, "\n")
	return n
}

// hasOneStream waits until all tabs together have one.
func (h *house) hasOneStream() {
	h.t.Helper()
	for end := time.Now().Add(patience); h.streams() != "1"; <-time.After(pollEvery) {
		if time.Now().After(end) {
			h.t.Fatalf("the tabs have %s streams", h.streams())
		}
	}
}

// TestTabsShareOneStream: browsers allow six connections to a server, so that
// the sixth tab must not stand still; and when the tab with the stream goes,
// another has it.
func TestTabsShareOneStream(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	first := h.visit(t, "/")
	var others []*page
	for range 7 {
		others = append(others, first.tab("/"))
	}
	last := others[len(others)-1]
	last.see(`[data-testid="lamp"][data-phase="open"]`)
	h.hasOneStream()
	h.session("Seen by all", "", nil)
	for _, p := range others {
		p.read("Seen by all")
	}
	first.walk("/settings/about") // the one that has the stream
	first.goTo("/login")          // … leaves
	h.session("Seen after that", "", nil)
	last.read("Seen after that")
	first.see(`[data-testid="lamp"][data-phase="open"]`)
	h.hasOneStream()
}

// clock lets a test pass the time of a page: later moves its clock and rings
// what rings every so often. It notes who takes the lead from another tab.
const clock = `(() => {
  const now = Date.now, every = setInterval, rings = [], ask = navigator.locks.request.bind(navigator.locks);
  let passed = 0;
  window.steals = 0;
  Date.now = () => now() + passed;
  window.setInterval = (f, ...rest) => (rings.push(f), every(f, ...rest));
  navigator.locks.request = (name, options, f) => (options.steal && steals++, ask(name, options, f));
  window.later = (ms) => { passed += ms; for (const f of rings) f(); return steals; };
})()`

// Between two beats of the server's heart nobody hears anything, and where nobody
// is logged in nobody will: a tab that only follows waits. One that is not told
// of two beats takes the lead. A login in one tab is one in all.
func TestATabThatFollowsIsPatient(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	leads := h.visit(t, "/")
	leads.expect("401")
	follows := &page{Page: leads.Tab(), t: t, h: h}
	follows.onEveryPage(clock)
	follows.goTo("/")
	follows.see(`[data-testid="lamp"][data-phase="open"]`)
	if n := eval[int](follows, "later(11_000)"); n != 0 {
		t.Errorf("it took the lead %d times from a tab that heard a heart beat 10 s ago", n)
	}
	follows.see(`[data-testid="lamp"][data-phase="open"]`)

	eval[bool](leads, `fetch("/logout", { method: "POST" }).then((r) => r.ok)`)
	h.stop(syscall.SIGTERM) // and with it the stream
	h.start(strings.TrimPrefix(h.url, "http://"))
	leads.expect(offline...)
	follows.expect(offline...)
	follows.see(`[data-testid="lamp"][data-phase="closed"]`)
	if n := eval[int](follows, "later(60_000)"); n != 0 {
		t.Errorf("it took the lead %d times where nobody is logged in", n)
	}
	third := &page{Page: leads.Tab(), t: t, h: h}
	third.do("log in", chromedp.Navigate(h.loginURL()))
	for _, p := range []*page{third, leads, follows} {
		p.see(`[data-testid="lamp"][data-phase="open"]`)
	}
	h.hasOneStream()

	if n := eval[int](follows, "later(30_000)"); n != 1 {
		t.Errorf("it took the lead %d times from a tab that is silent", n)
	}
	follows.see(`[data-testid="lamp"][data-phase="open"]`)
	h.hasOneStream()
}
