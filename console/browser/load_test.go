package browser

import (
	"regexp"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/network"

	"harness/internal/browsertest"
)

// hurried has no pause take long, and keeps how long they were to be.
const hurried = `(() => {
  const real = setTimeout;
  window.setTimeout = (f, ms, ...rest) => {
    if (ms >= 1000) sessionStorage.setItem("pauses", (sessionStorage.getItem("pauses") ?? "") + ms + " ");
    return real(f, ms / 50, ...rest);
  };
})()`

// built is where the files of a build of the page are.
var built = regexp.MustCompile(`^/console/[0-9a-f]{16}/`)

// unbuilt is a path without the build in it.
func unbuilt(path string) string { return built.ReplaceAllString(path, "/console/") }

// without lets nothing come from paths until it is allowed, nor from what the
// browser has kept of them.
func (p *page) without(paths ...string) (allow func()) {
	p.t.Helper()
	p.expect("ERR_CONNECTION_RESET")
	browsertest.Call(p.Page, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	var allowed atomic.Bool
	p.Fail(func(_, asked string) bool { return slices.Contains(paths, unbuilt(asked)) && !allowed.Load() })
	return func() { allowed.Store(true) }
}

// A page of which a part never comes does not load anew every second, and does
// not stay empty: it waits twice as long each time, and says why. When the part
// is there, so is the page, and the next trouble begins from the start.
func TestAPageOfWhichAPartNeverComesSaysSo(t *testing.T) {
	inFull(t)
	t.Parallel()
	p := newHouse(t).visit(t, "/")
	p.onEveryPage(hurried)
	allow := p.without("/console/store.js") // which the page's script needs
	p.goTo("/")
	p.see(`[role="alert"]`)
	p.read("A part of this page cannot be loaded")
	p.until(`sessionStorage.getItem("pauses").startsWith("1000 2000 4000 8000 ")`)
	allow()
	p.see(`[data-testid="lamp"][data-phase="open"]`)
	p.gone(`[role="alert"]`)
	p.until(`sessionStorage.getItem("harness.loads") === "0"`)
}

// A server that is replaced between a page and its script has another build by
// then: the page loads anew, and is of that.
func TestAPageOfWhichTheBuildIsGoneLoadsAnew(t *testing.T) {
	inFull(t)
	t.Parallel()
	p := newHouse(t).visit(t, "/")
	p.expect("404")
	p.onEveryPage(`if (sessionStorage.getItem("gone") === null) (sessionStorage.setItem("gone", "1"), (window.fetch = async () => new Response("", { status: 404 })))`)
	browsertest.Call(p.Page, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	var once atomic.Bool
	p.Divert(func(path string) string {
		if unbuilt(path) == "/console/app.js" && !once.Swap(true) {
			return "/console/0123456789abcdef/app.js"
		}
		return path
	})
	p.goTo("/")
	p.see(`[data-testid="lamp"][data-phase="open"]`)
}

// A language that does not come leaves the one that is shown, with words.
func TestALanguageThatDoesNotComeLeavesTheOneThatIsShown(t *testing.T) {
	inFull(t)
	t.Parallel()
	p := newHouse(t).visit(t, "/settings/appearance")
	allow := p.without("/console/de.js")
	p.press("Deutsch")
	p.read("This language could not be loaded")
	p.see(`html[lang="en"]`)
	allow()
	p.press("Deutsch")
	p.read("Sitzungen")
	p.see(`html[lang="de"]`)
}
