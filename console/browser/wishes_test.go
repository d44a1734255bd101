package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"harness/internal/browsertest"
)

// A key is another after somebody has pressed it in the settings; what it was
// does nothing any more, sheets and buttons show the new one, and one that is
// taken is refused.
func TestKeysCanBeChanged(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	script := axe(t)
	id := h.session("Keys", "write k to k.txt", nil)
	h.until(id, "a question", asks)
	p := h.visit(t, "/settings/keys")
	rebind := func(action string, keys ...string) {
		t.Helper()
		p.see(`[data-action="` + action + `"] button:last-child`)
		eval[bool](p, `document.querySelector('[data-action="`+action+`"] button:last-child').click(), true`)
		p.see(`[data-asking]`)
		p.key(keys...)
		p.gone(`[data-asking]`)
	}
	rebind("approve", "o")
	rebind("inbox", "h", "i")
	rebind("deny", "o")
	p.read("o is taken")
	rebind("theme", "\b")
	p.read("has no key now")
	p.shot("keys")
	p.accessible(script, "keys")
	p.key("t")
	p.see(`html[data-theme="light"]`)
	p.key("?")
	p.until(`document.querySelector("dialog[open]")?.innerText.includes("no key")`)
	p.key(escape)
	p.gone("dialog[open]")
	p.key("h", "i")
	p.until(`location.pathname === "/inbox"`)
	p.see(answerable)
	p.until(`[...document.querySelectorAll('[data-approval] kbd')].map((k) => k.innerText).join("") === "oanm"`)
	p.key("y")
	p.key("o")
	p.gone(card)
	h.until(id, "an end", idle)
	p.goTo("/settings/keys") // they are kept
	p.press("Usual keys everywhere")
	p.key("g", "i")
	p.until(`location.pathname === "/inbox"`)
}

// heardNotices has the page's notices collected, as if nobody looked at it.
const heardNotices = `(window.answerable = [], window.Notification = class { static permission = "granted"; static async requestPermission() { return "granted"; } constructor(title, o) { window.answerable.push(title + ": " + o.body); } close() {} }, Object.defineProperty(document, "hidden", { get: () => true, configurable: true }), true)`

// In quiet hours nothing pops up; without them, several at once are one.
func TestQuietHoursAreQuiet(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	p := h.visit(t, "/settings/notifications")
	eval[bool](p, heardNotices)
	turn := func(label string) {
		t.Helper()
		find := `[...document.querySelectorAll("label")].find((l) => l.innerText.startsWith(` + quote(label) + `))?.querySelector("input")`
		p.until(find + " !== undefined")
		eval[bool](p, find+".click(), true")
	}
	turn("Tell me when something needs me")
	turn("Quiet hours")
	p.see(`input[name="quiet-from"]`)
	now := eval[string](p, `new Date().toTimeString().slice(0, 5)`)
	later := eval[string](p, `new Date(Date.now() + 7200e3).toTimeString().slice(0, 5)`)
	set := func(name, value string) {
		t.Helper()
		eval[bool](p, `(() => { const i = document.querySelector('input[name="quiet-`+name+`"]'); Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(i, `+quote(value)+`); i.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
	}
	set("from", now)
	set("to", later)
	p.read("quiet now")
	p.shot("quiet-hours")
	first := h.session("Unheard", "write a to a.txt", nil)
	h.until(first, "a question", asks)
	p.until(`document.title.startsWith("(1)")`) // it is counted all the same
	turn("Quiet hours")
	second := h.session("Heard", "", nil)
	p.until(`document.title.startsWith("(1)")`)
	h.call("POST", "/chat/sessions/"+second+"/turns", fields{"prompt": "write b to b.txt"}, nil)
	h.until(second, "a question", asks)
	p.until(`window.answerable.length > 0`)
	if got := eval[string](p, `window.answerable.join(" | ")`); got != "Heard: needs your approval" {
		t.Errorf("it was told %q", got)
	}
	p.press("Send a test")
	p.until(`window.answerable.length === 2`)
}

// Whom the server tells is in the settings: it can be added, tried and removed.
func TestWebhooksAreListedAddedTriedAndRemoved(t *testing.T) {
	inFull(t)
	t.Parallel()
	answerable := make(chan string, 8) // more than are sent
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusNoContent
		if r.URL.Path == "/broken" {
			status = http.StatusTeapot
		}
		w.WriteHeader(status)
		answerable <- r.Header.Get("Webhook-Signature")
	}))
	t.Cleanup(to.Close)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, "--webhook-private", "--webhook", to.URL+"/broken", "--webhook-secret", "file:"+secret)
	script := axe(t)
	p := h.visit(t, "/settings/notifications")
	p.see(`[data-hook]`) // that of the command line
	p.press("Add a webhook")
	p.write(`input[name="name"]`, "ops")
	p.write(`input[name="url"]`, to.URL+"/agents")
	p.shot("webhook-add")
	p.accessible(script, "a new webhook")
	eval[bool](p, `document.querySelector('input[name="url"]').form.requestSubmit(), true`)
	p.see(`[data-testid="secret"]`)
	p.read("whsec_")
	p.accessible(script, "a webhook's secret")
	eval[bool](p, `[...document.querySelectorAll('[data-hook="ops"] button')].find((b) => b.innerText.includes("Send a test")).click(), true`)
	p.until(`document.querySelector('[data-hook="ops"]').innerText.includes("It was taken")`)
	if s := <-answerable; s == "" {
		t.Error("the test is not signed")
	}
	eval[bool](p, `document.querySelector('[data-hook]:not([data-hook="ops"]) button').click(), true`)
	p.read("the receiver answered 418")
	p.shot("webhooks")
	if n := eval[int](p, `[...document.querySelectorAll('[data-hook]')].filter((e) => e.innerText.includes("Remove")).length`); n != 1 {
		t.Errorf("%d can be removed", n)
	}
	p.press("Remove")
	p.press("Tell it nothing any more")
	p.gone(`[data-hook="ops"]`)
}

// A token is shown to who makes it, once, is good at once, and ends when
// somebody says so twice.
func TestTokensAreListedMadeAndEnded(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	script := axe(t)
	p := h.visit(t, "/settings/tokens")
	p.read("no tokens but the owner's")
	p.press("Make a token")
	p.write(`input[name="name"]`, "ci")
	p.write(`input[name="user"]`, "ada")
	p.write(`input[name="scope"]`, "read")
	p.shot("token-add")
	p.accessible(script, "a new token")
	p.press("Make it")
	p.see(`[data-testid="token"] code`)
	token := p.text(`[data-testid="token"] code`)
	p.shot("token-made")
	p.accessible(script, "a token")
	comes := func() int {
		r, err := http.NewRequestWithContext(t.Context(), "GET", h.url+"/sessions", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := comes(); got != 200 {
		t.Errorf("with the token: %d", got)
	}
	p.goTo("/settings/tokens")
	p.see(`[data-token="ci"]`)
	if eval[bool](p, `document.body.innerText.includes(`+quote(token)+`)`) {
		t.Error("the token is shown again")
	}
	p.press("End")
	p.press("End it")
	p.gone(`[data-token="ci"]`)
	if got := comes(); got != 401 {
		t.Errorf("with the token that was ended: %d", got)
	}
}

// What goes stands beside what comes.
func TestChangesStandSideBySide(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Sides", "write `one\ntwo\nthree` to n.txt", fields{"permission_mode": "full_auto"})
	h.until(id, "an end", idle)
	there := h.until(id, "an end", idle).Seq
	h.call("POST", "/chat/sessions/"+id+"/turns", fields{"prompt": "replace `two` with `2` in n.txt"}, nil)
	h.until(id, "a second turn", func(r row) bool { return idle(r) && r.Seq > there })
	p := h.visit(t, "/s/"+id+"/changes")
	p.see(`section[aria-label="n.txt"]`)
	p.press("Split")
	p.see(`[data-testid="split"]`)
	p.shot("split")
	p.accessible(axe(t), "changes side by side")
	rows := `[...[...document.querySelectorAll('[data-testid="split"]')].at(-1).children].map((r) => [...r.children].map((c) => c.innerText.replace(/\s+/g, "")).join("|"))`
	p.until(rows + `.some((r) => /two\|.*2$/.test(r))`) // what goes and what comes are one row
	p.do("choose the last turn", chromedp.SetValue(`select[aria-label="Changes of"]`, "last"))
	eval[bool](p, `document.querySelector('select[aria-label="Changes of"]').dispatchEvent(new Event("change", { bubbles: true })), true`)
	p.until(`location.search.includes("since=last") && document.querySelectorAll('[data-testid="split"]').length === 1`)
	p.goTo("/s/" + id + "/changes") // it is kept
	p.see(`[data-testid="split"]`)
}

// swipe moves a finger over what matches, by so many pixels.
func (p *page) swipe(selector string, by float64) {
	p.t.Helper()
	at := eval[[]float64](p, fmt.Sprintf(`(() => { const r = document.querySelector(%s).getBoundingClientRect(); return [r.left + r.width / 2 - %f / 2, r.top + 40]; })()`, quote(selector), by))
	touch := func(kind input.DispatchTouchEventType, x float64) {
		p.t.Helper()
		points := []*input.TouchPoint{{X: x, Y: at[1]}}
		if kind == input.DispatchTouchEventTypeTouchEnd {
			points = []*input.TouchPoint{}
		}
		browsertest.Call(p.Page, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	touch(input.DispatchTouchEventTypeTouchStart, at[0])
	for i := 1.0; i <= 8; i++ {
		touch(input.DispatchTouchEventTypeTouchMove, at[0]+by*i/8)
	}
	p.Shot(fmt.Sprintf("swipe-%+.0f", by))
	touch(input.DispatchTouchEventTypeTouchEnd, at[0]+by)
}

// On a phone a card is pushed right to approve and left to deny; a short push
// does nothing, and what cannot be taken back has to be slid.
func TestAFingerAnswersInTheInbox(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	p := h.visit(t, "/")
	p.phone()
	ask := func(title, prompt string) string {
		t.Helper()
		id := h.session(title, prompt, nil)
		h.until(id, "a question", asks)
		p.goTo("/inbox")
		p.see(answerable)
		return id
	}
	decided := func(id, want string) {
		t.Helper()
		h.until(id, "an answer", func(r row) bool { return r.Pending == 0 })
		for _, e := range h.events(id) {
			if e.Type == "approval_applied" && e.Payload["decision"] != want {
				t.Errorf("decided: %v, want %s", e.Payload["decision"], want)
			}
		}
	}
	id := ask("Approve me", "write a to a.txt")
	p.swipe(card, 60)
	p.swipe(card, 220)
	decided(id, "allow")
	id = ask("Deny me", "write b to b.txt")
	p.swipe(card, -220)
	decided(id, "deny")
	id = ask("Mind me", "run `rm -rf build && git push --force origin main`")
	p.swipe(card, 220)
	p.see(`input.slide`)
	p.shot("slide")
	p.accessible(axe(t), "slide to approve")
	if r := h.until(id, "", func(row) bool { return true }); r.Pending != 1 {
		t.Fatal("a push was enough for a high risk")
	}
	eval[bool](p, `(async () => { const i = document.querySelector("input.slide"), set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set; for (const v of [40, 80, 100]) { set.call(i, v); i.dispatchEvent(new Event("input", { bubbles: true })); await new Promise((r) => requestAnimationFrame(r)); } return true; })()`)
	decided(id, "allow")
}

// An address that nothing is at says so, and leads on.
func TestAnAddressThatNothingIsAtLeadsOn(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Here", "", nil)
	p := h.visit(t, "/")
	p.expect("404")
	for _, path := range []string{"/nowhere/at/all", "/settings/nothing", "/s/" + id + "/nothing", "/s/" + id + "/at/x", "/s/ses_nobody"} {
		p.walk(path)
		p.see(`[data-testid="not-found"]`)
	}
	p.shot("not-found")
	p.accessible(axe(t), "not found")
	p.press("Go to the sessions")
	p.read("Here")
	p.walk("/settings/access")
	p.until(`location.pathname === "/settings/tokens"`)
}
