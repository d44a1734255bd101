package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

var offline = []string{"ERR_CONNECTION", "WebSocket connection", "ERR_EMPTY_RESPONSE", "ERR_INCOMPLETE_CHUNKED", "ERR_SOCKET", "ERR_NETWORK"}

// dials notes when a page dialled, and whether somebody answered.
const dials = `(() => {
  const Real = WebSocket;
  window.dials = [];
  window.WebSocket = class extends Real { constructor(...args) { super(...args); const d = { at: Date.now(), opened: false }; dials.push(d); this.addEventListener("open", () => (d.opened = true)); } };
})()`

// Flow 4: the server dies in the middle of an answer and comes back. The page is
// live with its first attempt after that; how long it waits before one at most
// is the client's own schedule, and 1.5 s after an outage of five seconds.
func TestAKilledServerCostsNoText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session("Killed", "count to 400", nil)
	p := h.visit(t, "/")
	p.onEveryPage(dials)
	p.goTo("/s/" + id)
	p.expect(offline...)
	p.until(newest + `.includes(" 25 ")`)
	eval[bool](p, `(window.__lost = false, new MutationObserver(() => { if (document.querySelector('[data-testid="lost"]') !== null) window.__lost = true; }).observe(document.body, { subtree: true, childList: true }), true)`)
	h.restart()
	back := time.Now()
	h.until(id, "an end", func(r row) bool { return r.Status != "running" && r.Status != "recovering" })
	var st struct {
		Messages []struct {
			ID            string `json:"item_id"`
			Role, Content string
		}
	}
	h.call("GET", "/sessions/"+id+"/state?at=now", nil, &st)
	answer := st.Messages[1]
	want := strings.Join(strings.Fields(answer.Content), " ")
	if answer.Role != "assistant" || !strings.Contains(want, " 25 ") {
		t.Fatalf("the state has lost what was shown: %+v", answer)
	}
	p.until(fmt.Sprintf(`[...document.querySelectorAll('article[aria-label="Agent"]')[0].querySelectorAll(".prose-h")].map((e) => e.innerText).join(" ").replace(/\s+/g, " ").trim() === %s`, quote(want))) // that, once, and nothing else
	p.see(`[data-testid="line"][data-phase="open"]`)
	gate(t, "the right text after the server listens, by the clock", inMS(time.Since(back)), 1500, "ms")
	if vain := eval[bool](p, fmt.Sprintf("dials.find((d) => d.at > %d)?.opened === false", back.UnixMilli())); vain {
		t.Error("the first attempt after the server was back was in vain")
	}
	p.gone(`[data-testid="lost"]`)
	if !eval[bool](p, "window.__lost") {
		t.Error("nobody was told that the connection was lost")
	}
	told := ""
	for _, e := range h.events(id) {
		if e.Type == "token" && e.Payload["item_id"] == answer.ID {
			told += e.Payload["text"].(string)
		}
	}
	if told != answer.Content {
		t.Errorf("the state says %q, the log %q", answer.Content, told)
	}
	p.shot("after-restart")
}

// A screen that is wanted while the server is gone comes when it is back; the
// page stays.
func TestAScreenThatIsWantedWhileTheServerIsGoneComesLater(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	p := h.visit(t, "/")
	p.expect(offline...)
	h.stop(syscall.SIGKILL)
	p.see(`[data-testid="lost"]`)
	p.walk("/cockpit")
	p.see(`main [aria-busy="true"]`)
	p.see(`nav a[href="/inbox"]`)
	p.Shot("coming")
	h.start(strings.TrimPrefix(h.url, "http://"))
	p.read("Worst first")
	p.gone(`[data-testid="lost"]`)
}

// Flow 10: nothing that a model, a tool or a user writes is ever run.
func TestHostileTextIsText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	evil := `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>[x](javascript:window.hacked=1) <svg onload=window.hacked=1> ![p](data:text/html,<script>window.hacked=1</script>) [y](data:text/html,1) ![r](http://other.example/x.png) pаypal.md ` + "\u200b\u202e\u0007\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07"
	id := h.imported(t, hostile(evil))
	p := h.visit(t, "/")
	p.read("<img src=x")
	p.goTo("/s/" + id)
	for _, view := range []string{"", "/timeline", "/changes", "/tree", "/artifacts", "/inspect?seq=4", "/at/6"} {
		p.walk("/s/" + id + view)
		p.see(`[data-testid="line"][data-phase="open"]`)
		p.read("onerror")
		if view == "" {
			p.read("⟨U+200B⟩")
			p.read("⟨U+202E⟩") // what turns text around is shown, not done, where something is approved
			p.shot("hostile")
		}
		if found := eval[string](p, `[...document.querySelectorAll('script:not([src^="/console/"]), img:not([src^="/console/"]), iframe, object, embed, a[href^="javascript"], a[href^="data"], [onerror], [onload]')].map((e) => e.outerHTML).join("\n")`); found != "" {
			t.Errorf("%s has %s", view, found)
		}
	}
	if out := eval[string](p, `performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith(location.origin) && !n.startsWith("ws")).join(" ")`); out != "" {
		t.Errorf("the page asked for %s", out)
	}
	if eval[bool](p, "window.hacked !== undefined") {
		t.Error("it ran")
	}
}

// Flow 12: a phone.
func TestAPhoneCanAnswer(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("A rather long title that does not fit on the small screen of a telephone", "write phone to phone.txt", nil)
	h.until(id, "a question", asks)
	p := h.visit(t, "/")
	p.phone()
	p.goTo("/s/" + id)
	p.see(card)
	p.shot("phone-approval")
	if small := eval[string](p, `[...document.querySelectorAll('[data-approval] footer button')].filter((b) => b.offsetParent !== null && b.offsetHeight < 44).map((b) => b.innerText).join(", ")`); small != "" {
		t.Errorf("too small for a finger: %s", small)
	}
	if w := eval[int](p, "document.documentElement.scrollWidth"); w > 390 {
		t.Errorf("the page is %d pixels wide", w)
	}
	p.press("Approve")
	p.gone(card)
	p.until(`document.querySelector('[data-tool="write"]')?.dataset.status === "complete"`)
}

// Flow 13: every text can be translated, and longer ones have room.
func TestNoTextIsForgottenByTranslations(t *testing.T) {
	inFull(t)
	t.Parallel()
	h, c := crowded(t)
	p := h.visit(t, "/?lang=en-XA")
	look := func(name string) {
		t.Helper()
		if os.Getenv("LONG") != "" {
			p.shot("pseudo-" + name)
		}
		left := eval[string](p, `[...document.querySelectorAll('h1, h2, h3, button, label, th, option, nav a, p, dt, dialog li, [role=menuitem] span')].filter((e) => e.offsetParent !== null && e.children.length === 0 && /[A-Za-z]{3}/.test(e.textContent) && !e.textContent.includes("[") && e.closest('[data-user], [role=log], [data-session], kbd, code, pre, [data-approval] [role=group], [role=grid], [role=status]') === null).map((e) => e.textContent).join(" | ")`)
		if left != "" {
			t.Errorf("%s: not translated: %s", name, left)
		}
	}
	for _, s := range screens(c) {
		sep := "?"
		if strings.Contains(s.path, sep) {
			sep = "&"
		}
		p.goTo(s.path + sep + "lang=en-XA")
		p.until(`document.querySelector("main h1, [data-testid=not-found]") !== null && document.querySelector("[aria-busy=true]") === null && document.querySelector('[data-testid="lamp"]').dataset.phase === "open" && document.querySelector("nav a[title^='[']") !== null`)
		if strings.HasPrefix(s.path, "/s/") && s.name != "not-found" {
			p.see(`[data-testid="line"][data-phase="open"]`)
		}
		if strings.HasPrefix(s.name, "chat") {
			p.see("aside h2")
		}
		look(s.name)
	}
	p.each(overs(c), look)
	p.goTo("/?lang=de")
	p.read("Sitzungen")
	p.shot("german")
}

// Flow 14: a client that knows nothing but the first text of the specification
// works beside the console.
func TestAPlainClientWorksBesideTheConsole(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, strings.Replace(h.url, "http", "ws", 1)+"/ws?userId=seed", &websocket.DialOptions{HTTPHeader: map[string][]string{"Authorization": {"Bearer " + h.token}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	ws.SetReadLimit(1 << 20)
	var first struct {
		Type  string
		State struct {
			Status    string
			SessionID string `json:"sessionId"`
		}
	}
	_, b, err := ws.Read(ctx)
	if err != nil || json.Unmarshal(b, &first) != nil || first.Type != "state" || first.State.Status != "idle" {
		t.Fatalf("%s, %v", b, err)
	}
	if err := ws.Write(ctx, websocket.MessageText, []byte(`{"type":"commands","commands":[{"type":"submit","prompt":"say plainly said"}]}`)); err != nil {
		t.Fatal(err)
	}
	p := h.visit(t, "/")
	p.see(`[data-session]`)
	p.goTo("/s/" + eval[string](p, `document.querySelector('[data-session]').dataset.session`))
	p.until(newest + `.includes("plainly said")`)
	p.write(composer, "say from the console")
	p.key(enter)
	heard := ""
	for end := time.Now().Add(patience); !strings.Contains(heard, "console") && time.Now().Before(end); {
		_, b, err := ws.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		heard += string(b)
	}
	if !strings.Contains(heard, `"append-text"`) {
		t.Errorf("it heard %s", heard)
	}
}

// Who opens the server without a login reads to run harness login, and opens what
// that prints in the same tab, where only what is behind the # changes.
func TestALinkThatIsOpenedInTheTabOfTheLoginPageLogsIn(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	p := h.visit(t, "/")
	p.expect("401", "WebSocket connection")
	eval[bool](p, `fetch("/logout", { method: "POST" }).then((r) => r.ok)`)
	p.goTo("/login")
	p.read("You are not logged in here.")
	eval[bool](p, `(location.hash = "code=old", true)`)
	p.read("The link was used already, or is older than a minute.")
	eval[bool](p, `(location.href = `+quote(h.loginURL())+`, true)`)
	p.see(`[data-testid="lamp"][data-phase="open"]`)
}
