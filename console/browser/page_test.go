package browser

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	devtools "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"harness/internal/browsertest"
)

var chromium browsertest.Browser

// page is a tab of a browser that is logged in, in the words of these tests.
type page struct {
	*browsertest.Page
	t testing.TB
	h *house

	shots []string // the names of all that were to be kept
}

// visit opens a path of the console in a profile of its own, by way of a login.
func (h *house) visit(t testing.TB, path string) *page {
	t.Helper()
	p := &page{Page: chromium.Open(t), t: t, h: h}
	p.do("log in", chromedp.Navigate(h.loginURL()+"&next="+url.QueryEscape(path)))
	p.see(`[data-testid="lamp"][data-phase="open"]`)
	return p
}

// tab is another tab of the same profile.
func (p *page) tab(path string) *page {
	p.t.Helper()
	q := &page{Page: p.Tab(), t: p.t, h: p.h}
	q.goTo(path)
	return q
}

func (p *page) expect(parts ...string) { p.Expect(parts...) }

func (p *page) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.Do(what, actions...)
}

func (p *page) goTo(path string) {
	p.t.Helper()
	p.do("go to "+path, chromedp.Navigate(p.h.url+path))
}

// onEveryPage runs a script before those of every page that is loaded from here on.
func (p *page) onEveryPage(script string) {
	p.t.Helper()
	browsertest.Call(p.Page, devtools.AddScriptToEvaluateOnNewDocument, devtools.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// walk goes to a path as a link of the page does, without loading it anew.
func (p *page) walk(path string) {
	p.t.Helper()
	eval[bool](p, "(history.pushState(null, '', "+quote(path)+"), true)")
}

// eval is the value of an expression.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	return browsertest.Eval[T](p.Page, expression)
}

// until waits until an expression is true.
func (p *page) until(expression string) {
	p.t.Helper()
	p.Until(expression)
}

func quote(s string) string { return browsertest.Quote(s) }

// see waits for an element that matches.
func (p *page) see(selector string) {
	p.t.Helper()
	p.until("document.querySelector(" + quote(selector) + ") !== null")
}

// gone waits until no element matches.
func (p *page) gone(selector string) {
	p.t.Helper()
	p.until("document.querySelector(" + quote(selector) + ") === null")
}

// read waits for a text to be on the page.
func (p *page) read(text string) {
	p.t.Helper()
	p.until("document.body.innerText.toLowerCase().includes(" + quote(strings.ToLower(text)) + ")")
}

func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, "document.querySelector("+quote(selector)+")?.innerText ?? ''")
}

// press clicks the button or link with a name.
func (p *page) press(name string) {
	p.t.Helper()
	find := "[...document.querySelectorAll('button, a, [role=option]')].find((b) => (b.getAttribute('aria-label') ?? b.innerText).trim().startsWith(" + quote(name) + ") && b.offsetParent !== null && !b.disabled)"
	p.until(find + " !== undefined")
	eval[bool](p, find+".click(), true")
}

// key presses keys, one after the other. One character is a key and nothing
// else: what it would write is the page's to decide.
func (p *page) key(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		if k == enter {
			p.enter(0)
			continue
		}
		if len(k) > 1 || k[0] < ' ' {
			p.do("key "+k, chromedp.KeyEvent(k))
			continue
		}
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
			browsertest.Call(p.Page, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: k})
		}
	}
}

const shift = 8 // a modifier

// enter presses Enter as a keyboard does: where the page has a use for it, it
// writes nothing.
func (p *page) enter(modifiers int64) {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		browsertest.Call(p.Page, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: "Enter", Code: "Enter", Text: enter, Modifiers: modifiers, WindowsVirtualKeyCode: 13})
	}
}

// write puts a text into what matches, at once; key types.
func (p *page) write(selector, text string) {
	p.t.Helper()
	p.see(selector)
	p.do("focus "+selector, chromedp.Focus(selector))
	browsertest.Call(p.Page, input.InsertText, input.InsertTextParams{Text: text})
}

// settled is true when nothing is on its way any more, and nothing moves.
const settled = `document.querySelector('[aria-busy="true"]') === null && document.getAnimations().every((a) => a.playState !== "running" || a.effect.getComputedTiming().iterations === Infinity)`

// shot keeps what the page looks like when it has settled; Shot as it is.
func (p *page) shot(name string) {
	p.t.Helper()
	p.shots = append(p.shots, name)
	if p.Keeps() {
		p.until(settled)
		p.Shot(name)
	}
}

// theme makes the page light or dark.
func (p *page) theme(name string) {
	p.t.Helper()
	p.prefers(name)
	p.see(`html[data-theme="` + name + `"]`)
}

// prefers says what a page may ask about whom it is shown to.
func (p *page) prefers(theme string) {
	p.t.Helper()
	browsertest.Call(p.Page, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// phone makes the window a phone's.
func (p *page) phone() {
	p.t.Helper()
	p.do("phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
}

const (
	enter  = kb.Enter
	escape = kb.Escape
)
