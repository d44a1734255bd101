package browser

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

const notLoaded = "dynamically imported module"

// A page that is open while the server is replaced has the scripts of before.
// Parts of the new ones would not fit: it gets none, says so, and what was begun
// to be written is there after the page is loaded anew.
func TestAPageOlderThanItsServerOffersToLoadAnew(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	p := h.visit(t, "/s/"+h.session("Upgraded", "", nil))
	p.expect("404", notLoaded)
	p.write(composer, "what I was about to say")
	var replaced atomic.Bool
	p.Divert(func(path string) string {
		if replaced.Load() {
			return built.ReplaceAllString(path, "/console/0123456789abcdef/")
		}
		return path
	})
	replaced.Store(true)
	p.press("New session")
	p.see(`[data-testid="outdated"]`)
	p.see(composer)
	replaced.Store(false)
	p.press("Load again")
	p.gone(`[data-testid="outdated"]`)
	p.until(`document.querySelector(` + quote(composer) + `)?.value === "what I was about to say"`)
}

// What cannot be shown is missing, and takes neither the conversation nor the
// question in it along, nor the page; another place is another try.
func TestAPartThatFailsTakesNothingElseAway(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id, other := h.session("Asks", "run `echo hello`", nil), h.session("Other", "say hello there", nil)
	h.until(id, "a question", asks)
	h.until(other, "an end", idle)
	p := h.visit(t, "/")
	p.expect(notLoaded, "ERR_CONNECTION_RESET")
	var wanted, given atomic.Int32 // what stands below other screens; parts that are not tried any more
	p.Fail(func(method, path string) bool {
		path = unbuilt(path)
		if path == "/console/asks.js" {
			wanted.Add(1)
		}
		if method == "HEAD" {
			given.Add(1)
		}
		return slices.Contains([]string{"/console/how.js", "/console/notes.js", "/console/side.js", "/console/branch.js", "/console/timeline.js", "/console/asks.js"}, path)
	})
	giveUp := func(parts int32) {
		t.Helper()
		for end := time.Now().Add(patience); given.Load() < parts; <-time.After(pollEvery) {
			if time.Now().After(end) {
				t.Fatalf("%d of %d parts were given up", given.Load(), parts)
			}
		}
		eval[bool](p, "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))")
	}
	p.walk("/s/" + id)
	giveUp(3) // how, notes, side
	p.see(card)
	p.see("main textarea")
	p.press("Branch")
	p.read("This could not be shown")
	p.see("main textarea")
	p.walk("/s/" + id + "/timeline")
	p.see(`[data-testid="broken"]`)
	p.walk("/s/" + other)
	p.until(newest + `.includes("hello there")`)
	p.gone(`[data-testid="broken"]`)
	if n := wanted.Load(); n > 0 {
		t.Errorf("what stands below other screens was fetched %d times", n)
	}
	p.walk("/cockpit")
	giveUp(6) // and branch, timeline, asks
	p.read("Worst first")
	p.see(`nav a[href="/inbox"]`)
}
