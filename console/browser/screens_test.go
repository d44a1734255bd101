package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// What is looked for is in the address; those that need somebody stand first,
// and move when somebody has answered.
func TestTheListIsGroupedLiveAndFilteredByItsAddress(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	asking := h.session("Asking", "write a to a.txt", nil)
	h.until(asking, "a question", asks)
	h.until(h.session("Resting", "say hello", nil), "an end", idle)
	p := h.visit(t, "/")
	order := `[...document.querySelectorAll('[role="listitem"]')].map((e) => e.innerText.split("\n")[0].toLowerCase()).join(" ")`
	p.until(order + ` === "needs you asking idle resting"`)
	p.do("filter", chromedp.SetValue(`select[aria-label="Status"]`, "idle"))
	eval[bool](p, `document.querySelector('select[aria-label="Status"]').dispatchEvent(new Event("change", { bubbles: true })), true`)
	p.until(`location.search === "?status=idle" && ` + order + ` === "idle resting"`)
	p.goTo("/?q=ask")
	p.until(order + ` === "needs you asking"`)
	p.goTo("/?q=ask&status=idle")
	p.read("No session is like that")
	p.press("Clear filters")
	p.until(`location.search === ""`)
	p.until(`document.querySelector("[data-session] button")?.disabled === false`) // it was to be seen for a moment
	p.key("j", "y")
	p.until(order + `.startsWith("idle")`)
}

// The inbox has whatever waits for a person, from every session, with what it
// takes to decide; keys move and answer.
func TestTheInboxHasEverythingThatNeedsSomebody(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	write := h.session("Writes", "write `hello` to a.txt", nil)
	h.until(write, "a question", asks)
	risky := h.session("Dangerous", "run `git push --force origin main`", nil)
	h.until(risky, "a question", asks)
	question := h.session("Curious", "ask me which colour it should be", nil)
	h.until(question, "a question", asks)
	spent := h.session("Spent", "count to 20 then run `echo one`", fields{"permission_mode": "full_auto", "policy": fields{"health": fields{"total_tokens": 10, "action": "pause"}}})
	h.until(spent, "a pause", func(r row) bool { return r.Status == "paused" })
	h.session("Broken", "fail with a rate limit", nil)
	p := h.visit(t, "/inbox")
	for _, text := range []string{"hello", "medium risk", "git push --force", "high risk", "which colour it should be", "the last turn failed", "paused:"} {
		p.read(text)
	}
	p.shot("inbox")
	p.see(answerable)
	p.key("a")
	p.until(`document.querySelector('[data-testid="rule"]')?.innerText.includes("on every file inside the workspace")`)
	p.key(escape)
	p.key("j")
	p.key("y") // never a high risk
	p.read("This may not be possible to take back.")
	p.key(escape)
	p.key("n")
	h.until(risky, "an answer", func(r row) bool { return r.Pending == 0 })
	p.read("Denied")
	p.write(`[aria-label="Your answer"]`, "blue")
	p.key(enter)
	h.until(question, "an answer", func(r row) bool { return r.Pending == 0 })
}

// The palette reaches sessions, settings and what can be done where one is.
func TestThePaletteReachesEverything(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Somewhere far down", "say hello", nil)
	p := h.visit(t, "/")
	open := func(text string) {
		t.Helper()
		p.do("palette", chromedp.KeyEvent("k", chromedp.KeyModifiers(2)))
		p.write(`dialog[open] [role="combobox"]`, text)
		p.until(`document.querySelectorAll('dialog[open] [role="option"]').length > 0`)
		p.key(enter)
		p.gone("dialog[open]")
	}
	open("far down")
	p.until(`location.pathname === "/s/` + id + `"`)
	open("timeline")
	p.until(`location.pathname.endsWith("/timeline")`)
	open("notifications")
	p.until(`location.pathname === "/settings/notifications"`)
	open("deutsch")
	p.read("Einstellungen")
}

// Policy and budgets are what the server has: a call is tried without being
// made, what Always left is revoked, limits are kept.
func TestSettingsChangeTheServer(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Ruled", "write a to a.txt", nil)
	h.until(id, "a question", asks)
	p := h.visit(t, "/s/"+id)
	p.see(card)
	p.press("Always")
	p.press("Save and approve")
	h.until(id, "an end", idle)
	p.see(`select[aria-label="Effort"]`)
	eval[bool](p, `((s) => (s.value = "high", s.dispatchEvent(new Event("change", { bubbles: true }))))(document.querySelector('select[aria-label="Effort"]'))`)
	p.press("usual model")
	p.write(`input[aria-label="Model"]`, "small")
	p.key(enter)
	p.until(`document.querySelector('select[aria-label="Effort"]')?.value === "high" && document.querySelector('button[title="Model"]')?.innerText === "small"`)
	p.walk("/settings/policy")
	p.read("on every file inside the workspace")
	p.press("Test")
	p.until(`document.querySelector('[data-testid="verdict"]')?.innerText.includes("ask")`)
	p.press("Revoke")
	p.read("No standing rules")
	p.walk("/settings/budgets")
	p.write(`input[name="total_tokens"]`, "5000")
	p.press("Save")
	p.read("Saved")
	var d struct {
		Health struct {
			Policy struct {
				Health struct {
					Tokens int `json:"total_tokens"`
				}
			}
		}
	}
	if h.call("GET", "/sessions/"+id, nil, &d); d.Health.Policy.Health.Tokens != 5000 {
		t.Errorf("the limit is %d", d.Health.Policy.Health.Tokens)
	}
}

// Everybody sees the default tier; the debug tier is for who asks. Thoughts are
// what the log has of them.
func TestTheDebugTierIsShownOnRequest(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Tiers", "think about it then say done", nil)
	h.until(id, "an end", idle)
	var thought strings.Builder
	debug := ""
	for _, e := range h.events(id) {
		switch e.Type {
		case "thinking":
			fmt.Fprint(&thought, e.Payload["text"])
		case "usage":
			debug = e.Type
		}
	}
	if thought.Len() == 0 || debug == "" {
		t.Fatal("the log has no thought, or nothing of the debug tier")
	}
	p := h.visit(t, "/s/"+id)
	p.press("Thought")
	p.until(fmt.Sprintf(`document.querySelector('[role="log"]').innerText.replace(/\s+/g, " ").includes(%s)`, quote(strings.Join(strings.Fields(thought.String()), " "))))
	p.goTo("/s/" + id + "/timeline")
	kinds := `[...document.querySelectorAll('[role="row"]')].map((r) => r.innerText).join(" ")`
	p.until(kinds + `.includes("turn_end") && !` + kinds + `.includes("usage")`)
	p.key("d")
	p.until(kinds + `.includes("usage")`)
}

// A session on a bridge says what it cannot show, and offers nothing that its
// agent does not take.
func TestABridgeSaysWhatItLacks(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t, "--engine", "acp:/bin/cat")
	id := h.session("Behind a bridge", "", nil)
	p := h.visit(t, "/s/"+id)
	p.see(`[data-testid="bridge"]`)
	p.until(`["steer", "system_prompt", "reflection"].every((w) => document.querySelector('[data-testid="lacks"]')?.innerText.includes(w))`)
	p.shot("bridge")
	p.walk("/settings/engines")
	p.read("Lacks: steer")
}

// The same session in assistant-ui's components takes answers and prompts, too.
func TestTheAssistantUIViewAnswersAndSends(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Elsewhere", "write a to a.txt then say first", nil)
	h.until(id, "a question", asks)
	p := h.visit(t, "/chat/"+id)
	p.see(`section[aria-label="write"] [role="group"]`) // what would be written
	p.shot("assistant-ui")
	p.press("Allow once")
	h.until(id, "an end", idle)
	p.read("first")
	p.write(`textarea[aria-label="Message"]`, "say second")
	p.press("Send")
	p.until(`document.querySelector('[role="log"]').innerText.includes("second") && document.querySelector('[role="log"]').innerText.split("second").length > 2`)
	p.accessible(axe(t), "assistant-ui")
}
