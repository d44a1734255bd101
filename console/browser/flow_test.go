package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	composer   = `textarea[aria-label="Message"]`
	steering   = `textarea[aria-label="Steer the running turn"]`
	card       = `[data-approval]`
	answerable = `[data-approval][data-ready="true"]` // it was to be seen for a moment: now it takes an answer
)

// newest is what the newest answer says, as people read it.
const newest = `([...document.querySelectorAll('article[aria-label="Agent"]')].at(-1)?.innerText ?? '')`

// Flow 1: a newcomer's way, from an empty console to a diff, back, and on in a
// branch, without a manual.
func TestNewSessionStreamsAsksAndEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.visit(t, "/")
	p.read("No sessions yet")
	p.shot("empty")
	p.press("New session")
	p.write(`textarea[name="prompt"]`, "write `hello there` to notes.md then run cat notes.md then say The end.")
	p.shot("new-session")
	p.press("Start")
	p.see(answerable)
	p.read("notes.md")
	p.key("y")
	p.until(`document.querySelector('[data-tool="write"]')?.dataset.status === "complete"`)
	p.see(answerable + ` pre`) // the command asks, too
	p.key("y")
	p.until(newest + `.includes("The end")`)
	p.gone(card)
	p.until(newest + `.includes("hello there")`)
	if got, err := os.ReadFile(filepath.Join(h.work, "notes.md")); err != nil || !strings.Contains(string(got), "hello there") {
		t.Errorf("notes.md: %q, %v", got, err)
	}
	p.key("3")
	p.read("hello there")
	p.see(`section[aria-label="notes.md"]`)
	p.key("1")
	p.press("Rewind files to before this message")
	p.press("Rewind 1 file")
	p.gone("dialog[open]")
	if _, err := os.Stat(filepath.Join(h.work, "notes.md")); err == nil {
		t.Error("notes.md is still there")
	}
	p.key("b")
	p.press("Make the branch")
	p.read("(branch)")
	p.write(composer, "say In the branch")
	p.key(enter)
	p.until(newest + `.includes("In the branch")`)
}

// Flow 2.
func TestDenyingWithAReasonTellsTheAgentWhy(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session("Deny", "write x to secret.txt", nil)
	h.until(id, "a question", asks)
	p := h.visit(t, "/s/"+id)
	p.see(answerable)
	p.key("m")
	p.write(`[data-approval] input`, "use another file")
	p.key(enter)
	p.gone(card)
	p.until(`document.querySelector('[data-tool="write"]')?.dataset.status === "denied"`)
	p.shot("denied")
	h.until(id, "an end", idle)
	for _, e := range h.events(id) {
		if e.Type == "approval_applied" {
			if e.Payload["decision"] != "deny" || e.Payload["reason"] != "use another file" || e.Payload["source"] != "user" {
				t.Errorf("%v", e.Payload)
			}
			return
		}
	}
	t.Error("nothing was decided")
}

// Flow 3: Enter is for the running turn, Shift-Enter for the next.
func TestSteeringAndQueueingAreTwoThings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session("Steer", "run `echo ran` then count to 3", nil)
	h.until(id, "a question", asks)
	p := h.visit(t, "/s/"+id)
	p.see(card)
	p.write(steering, "then say steered")
	p.key(enter)
	p.read("The agent was told")
	p.write(steering, "say queued")
	p.enter(shift)
	p.read("Queued behind the running turn")
	p.see(`ul[aria-label="Queued prompts"] li`)
	p.shot("steer-and-queue")
	eval[bool](p, "document.activeElement.blur(), true")
	p.see(answerable)
	p.key("y")
	h.until(id, "both turns' end", func(r row) bool { return idle(r) && r.Pending == 0 && r.Seq > 20 })
	said := map[string]int{}
	for _, e := range h.events(id) {
		if e.Type == "user_message" {
			said[e.Payload["source"].(string)]++
		}
	}
	if said["steer"] != 1 || said["resume"] != 1 {
		t.Errorf("said: %v", said)
	}
	p.gone(`ul[aria-label="Queued prompts"]`)
	p.until(newest + `.includes("queued")`)
}

// sequence notes what a page shows of a question and of its call, whenever
// that changes.
const sequence = `(() => {
  window.seen = [];
  const look = () => {
    const now = (document.querySelector("[data-approval]") === null ? "closed" : "asks") + " " + document.querySelector('[data-tool="write"]')?.dataset.status;
    if (seen.at(-1)?.what !== now) seen.push({ what: now, at: Date.now() });
  };
  look();
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
  return true;
})()`

// Flow 5: whoever answers first, both see it. The other page is told, and does
// not ask: its card is closed no later than the call has ended there, and a
// second after the key (by the clock, where LONG=1).
func TestAnAnswerInOnePageClosesTheCardInAnother(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session("Two pages", "write a to a.txt", nil)
	h.until(id, "a question", asks)
	one, two := h.visit(t, "/s/"+id), h.visit(t, "/s/"+id)
	one.see(answerable)
	two.see(card)
	eval[bool](two, sequence)
	pressed := time.Now()
	one.key("y")
	two.until(`document.querySelector('[data-tool="write"]')?.dataset.status === "complete"`)
	if late := eval[string](two, `seen.map((s) => s.what).filter((w) => w === "asks complete").join()`); late != "" {
		t.Errorf("the other page still asks when the call is over: %s", eval[string](two, "JSON.stringify(seen)"))
	}
	two.gone(card)
	one.gone(card)
	took := eval[float64](two, fmt.Sprintf(`seen.find((s) => s.what.startsWith("closed")).at - %d`, pressed.UnixMilli()))
	gate(t, "an answer reaches another page, by the clock", took, 1000, "ms")
}

// Flow 7: looking back, branching there, and comparing the two.
func TestTimeTravelBranchAndCompare(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Travel", "say first", nil)
	h.until(id, "an end", idle)
	there := h.until(id, "an end", idle).Seq
	h.call("POST", "/chat/sessions/"+id+"/turns", fields{"prompt": "say second"}, nil)
	h.until(id, "a second turn", func(r row) bool { return idle(r) && r.Seq > there })
	p := h.visit(t, fmt.Sprintf("/s/%s/at/%d", id, there))
	p.see(`[data-testid="past"]`)
	p.until(newest + `.includes("first")`)
	if text := p.text(`[role="log"]`); strings.Contains(text, "second") {
		t.Errorf("the past shows what came later: %s", text)
	}
	p.shot("past")
	before := h.until(id, "", func(row) bool { return true }).Seq
	p.key(".", ",")
	p.key("b")
	p.press("Make the branch")
	p.until(`!location.pathname.includes(` + quote(id) + `)`)
	p.until(newest + `.includes("first")`)
	if now := h.until(id, "", func(row) bool { return true }).Seq; now != before {
		t.Errorf("looking wrote %d events", now-before)
	}
	p.write(composer, "say third")
	p.key(enter)
	p.until(newest + `.includes("third")`)
	branch := strings.TrimPrefix(eval[string](p, "location.pathname"), "/s/")
	h.until(branch, "an end", idle)
	p.goTo("/s/" + branch + "/tree")
	p.until(`document.querySelectorAll('input[type=checkbox]').length === 2`)
	eval[bool](p, `document.querySelectorAll('input[type=checkbox]').forEach((c) => c.click()), true`)
	p.see(`[data-testid="compare"]`)
	rows := eval[map[string][]string](p, `Object.fromEntries([...document.querySelectorAll('[data-testid="compare"] tbody tr')].map((r) => [r.cells[0].innerText, [r.cells[1].innerText, r.cells[2].innerText]]))`)
	if n := strconv.Itoa(there); !slices.Equal(rows["The same until event"], []string{n, n}) {
		t.Errorf("the branch was made at event %s, and the two are compared as %q", n, rows)
	}
	events := []string{strconv.Itoa(h.until(id, "an end", idle).Seq), strconv.Itoa(h.until(branch, "an end", idle).Seq)}
	if got := slices.Sorted(slices.Values(rows["Events"])); !slices.Equal(got, slices.Sorted(slices.Values(events))) {
		t.Errorf("the two have %q events, and are said to have %q", events, got)
	}
	p.shot("compare")
}

// Flow 8: a rewind says first what it would do.
func TestARewindIsShownBeforeItIsDone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session("Rewind", "write new to made.txt", fields{"permission_mode": "full_auto"})
	h.until(id, "an end", idle)
	file := filepath.Join(h.work, "made.txt")
	p := h.visit(t, "/s/"+id)
	p.see(`button[aria-label="Rewind files to before this message"]`)
	p.press("Rewind files to before this message")
	p.see(`[data-testid="rewind"]`)
	p.until(`document.querySelector('[data-testid="rewind"]').innerText.includes("made.txt")`)
	p.shot("rewind")
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("looking has removed it: %v", err)
	}
	p.press("Rewind 1 file")
	p.gone(`[data-testid="rewind"]`)
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
}

// Flow 9: a limit is a question like any other.
func TestACrossedBudgetAsks(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Budget", "count to 20 then run `echo one` then run `echo two`", fields{"permission_mode": "full_auto", "policy": fields{"health": fields{"total_tokens": 10, "action": "require_approval"}}})
	p := h.visit(t, "/s/"+id)
	p.see(card)
	p.read("A limit was reached")
	p.shot("budget")
	p.press("Continue")
	h.until(id, "an answer", func(r row) bool { return r.Pending == 0 })
}

// Flow 11: the whole way without a mouse.
func TestEverythingWorksWithTheKeyboardAlone(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	p := h.visit(t, "/")
	p.read("No sessions yet")
	p.key("n")
	p.see(`dialog[open] textarea`)
	p.until(`document.activeElement?.tagName === "TEXTAREA"`)
	p.key("write k to keys.txt", enter)
	p.see(answerable)
	p.key("y")
	p.until(`document.querySelector('[data-tool="write"]')?.dataset.status === "complete"`)
	p.key("2")
	p.until(`location.pathname.endsWith("/timeline")`)
	p.key("g", "s")
	p.until(`location.pathname === "/"`)
	p.key("j")
	p.see(`[role="listitem"].bg-mark-soft`)
	p.key(enter)
	p.until(`location.pathname.startsWith("/s/")`)
	p.key("g", "i")
	p.until(`location.pathname === "/inbox"`)
	p.key("?")
	p.see(`dialog[open]`)
	p.shot("keyboard")
	p.key(escape)
	p.gone(`dialog[open]`)
	p.key("t")
	p.see(`html[data-theme="dark"]`)
}
