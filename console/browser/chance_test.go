package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Whatever is read over HTTP may fail by chance, as when a network changes: the
// login, the page's own script, its parts, what they ask for. Here everything
// does the first time it is asked for, and nobody has to do anything.
func TestWhatFailsOnceIsAskedForAgain(t *testing.T) {
	inFull(t)
	t.Parallel()
	h, c := crowded(t)
	p := &page{Page: chromium.Open(t), t: t, h: h}
	p.expect("ERR_CONNECTION_RESET")
	failed := p.FailFirst(func(method, path string) bool {
		first := path == "/console/start.js" || strings.HasPrefix(path, "/login.") // nobody is there yet to ask again
		return path == "/login" || method == "GET" && !first
	})
	p.do("log in", chromedp.Navigate(h.loginURL()))
	p.see(`[data-testid="lamp"][data-phase="open"]`)
	for _, s := range screens(c) {
		p.walk(s.path)
		p.read(s.sign)
	}
	p.each(overs(c), func(string) {})
	p.goTo("/?lang=de")
	p.read("Sitzungen")
	if broken := eval[int](p, `document.querySelectorAll('[data-testid="broken"], [role="alert"]').length`); broken > 0 {
		t.Errorf("it tells of %d faults", broken)
	}
	paths := failed.Paths()
	for i, path := range paths {
		paths[i] = unbuilt(path)
	}
	for _, want := range []string{"/login", "/console/app.js", "/console/app.css", "/console/cockpit.js", "/console/de.js", "/sessions/stream", "/approvals", "/metrics", "/engines", "/sessions/" + c.done, "/sessions/" + c.done + "/events"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s never failed; these did: %s", want, strings.Join(paths, " "))
		}
	}
}

// The answer to a login may be lost when the server has had the code. Sent again,
// it is not taken for stolen, which would end the login that the browser may have:
// the page goes on with it.
func TestALoginWhoseAnswerIsLostIsNoTheft(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	p := &page{Page: chromium.Open(t), t: t, h: h}
	p.expect("ERR_CONNECTION_RESET", "401")
	lost := p.LoseFirst(func(method, path string) bool { return method == "POST" && path == "/login" })
	p.do("log in", chromedp.Navigate(h.loginURL()))
	p.see(`[data-testid="lamp"][data-phase="open"]`)
	if got := lost.Paths(); !slices.Equal(got, []string{"/login"}) {
		t.Errorf("lost: %v", got)
	}
}
