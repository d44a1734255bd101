package browser

import (
	"strings"
	"testing"
)

// One key answers a question wherever somebody is: in the inbox, in every view of
// the session that asks, and on the screens that are of no session. It is to be
// seen for a moment first, may be put off there, and no key approves a high risk.
func TestOneKeyAnswersFromAnywhere(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	p := h.visit(t, "/")
	const below = `[data-testid="asks"] ` + answerable
	for path, asked := range map[string]string{
		"/inbox": answerable, "/s/*/timeline": answerable, "/s/*/changes": answerable, "/s/*/inspect": answerable,
		"/cockpit": below, "/settings/policy": below,
	} {
		id := h.session("Asks", "run `echo hello`", nil)
		h.until(id, "a question", asks)
		eval[bool](p, hasty)
		p.walk(strings.Replace(path, "*", id, 1))
		p.see(asked)
		p.read("low risk")
		if got := eval[string](p, "window.hasty"); !strings.HasSuffix(got, " false") {
			t.Errorf("a hasty hand on %s: %q", path, got)
		}
		if r := h.until(id, "", func(row) bool { return true }); r.Pending != 1 {
			t.Fatalf("a key on %s answered what was not to be seen yet: %+v", path, r)
		}
		p.key("y")
		h.until(id, "an answer, and an end", func(r row) bool { return idle(r) && r.Pending == 0 })
		p.gone(asked)
		allowed := false
		for _, e := range h.events(id) {
			allowed = allowed || e.Type == "approval_applied" && e.Payload["decision"] == "allow"
		}
		if !allowed {
			t.Errorf("a key on %s did not approve", path)
		}
	}
	risky := h.session("Dangerous", "run `git push --force origin main`", nil)
	h.until(risky, "a question", asks)
	p.walk("/cockpit")
	p.see(below)
	p.shot("asks-below")
	p.key("y")
	p.read("This may not be possible to take back.")
	p.press("Later")
	p.gone(card)
	p.walk("/settings/appearance")
	p.press("Deutsch")
	p.read("Sitzungen")
	p.gone(card) // in every language
	if r := h.until(risky, "", func(row) bool { return true }); r.Pending != 1 {
		t.Errorf("a key has answered what may not be taken back: %+v", r)
	}
}
