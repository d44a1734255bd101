package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// crowded is a server with sessions of every kind.
func crowded(t *testing.T) (h *house, asking, done string) {
	h = newHouse(t)
	asking = h.session("Fix the flaky lexer test", "write `# Lexer notes\n\nOffsets count twice after a CRLF.` to notes.md then run ls -la", nil)
	done = h.session("Tidy the release notes", "write `# Release 0.1\n\n- faster\n- smaller` to RELEASE.md then run `ls -la` then say **All done.** The notes are in `RELEASE.md`.", fields{"permission_mode": "full_auto"})
	plan := h.session("Upgrade the SQLite driver", "plan: look around, change the pin, run the tests, write it down", fields{"permission_mode": "full_auto"})
	risky := h.session("Clean the build directory", "run `rm -rf build && git push --force origin main`", nil)
	question := h.session("Choose a colour for the chart", "ask me which colour it should be", nil)
	failed := h.session("Call the model again", "fail with a rate limit", nil)
	h.session("Empty", "", nil)
	count, list := h.session("Count the lines", "run `wc -l go.mod`", nil), h.session("Show the branch", "run `git status`", nil)
	for _, id := range []string{asking, risky, question, count, list} {
		h.until(id, "a question", asks)
	}
	for _, id := range []string{done, plan} {
		h.until(id, "an end", idle)
	}
	h.until(failed, "a failure", func(r row) bool { return r.Status == "idle" || r.Status == "failed" })
	return h, asking, done
}

type screen struct{ name, path, sign string }

// screens are all of them, each with something to be read there.
func screens(asking, done string) []screen {
	return []screen{
		{"sessions", "/", "Tidy the release notes"},
		{"board", "/?view=board", "Tidy the release notes"},
		{"inbox", "/inbox", "high risk"},
		{"chat-asking", "/s/" + asking, "Approve"},
		{"chat-done", "/s/" + done, "All done."},
		{"timeline", "/s/" + done + "/timeline", "tool_call"},
		{"changes", "/s/" + done + "/changes", "RELEASE.md"},
		{"tree", "/s/" + done + "/tree", "Choose two"},
		{"artifacts", "/s/" + done + "/artifacts", "No artifacts"},
		{"inspect", "/s/" + done + "/inspect?seq=8", "tool"},
		{"past", "/s/" + done + "/at/9", "Looking runs nothing"},
		{"cockpit", "/cockpit", "Worst first"},
		{"settings", "/settings/policy", "Test a call"},
		{"budgets", "/settings/budgets", "Cost in US dollars"},
		{"engines", "/settings/engines", "It lacks nothing"},
		{"access", "/settings/tokens", "Another browser"},
		{"notifications", "/settings/notifications", "Nobody is told yet"},
		{"appearance", "/settings/appearance", "As the system"},
		{"keys", "/settings/keys", "Click a key"},
		{"about", "/settings/about", "Inventory of events"},
		{"nothing-found", "/?q=nothing+like+this", "No session is like that"},
		{"assistant-ui", "/chat/" + done, "All done."},
	}
}

// TestEveryScreenInBothThemes visits everything, asks whether it is accessible,
// and keeps what it looks like.
func TestEveryScreenInBothThemes(t *testing.T) {
	inFull(t)
	t.Parallel()
	h, asking, done := crowded(t)
	script := axe(t)
	p := h.visit(t, "/")
	p.read("Fix the flaky lexer test")
	for _, theme := range []string{"light", "dark"} {
		p.theme(theme)
		for _, s := range screens(asking, done) {
			p.walk(s.path)
			p.read(s.sign)
			if strings.HasPrefix(s.name, "chat") {
				p.see("aside h2")
			}
			p.shot(s.name + "-" + theme)
			p.accessible(script, s.name+" "+theme)
		}
		p.each(overs(asking, done), func(name string) {
			p.shot(name + "-" + theme)
			p.accessible(script, name+" "+theme)
		})
	}
	p.do("phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	for _, theme := range []string{"light", "dark"} {
		p.theme(theme)
		for _, s := range screens(asking, done) {
			p.walk(s.path)
			p.read(s.sign)
			p.shot(s.name + "-phone-" + theme)
			if theme == "dark" { // colours are those of the large screen
				continue
			}
			p.accessible(script, s.name+" on a phone")
			if w := eval[int](p, "document.documentElement.scrollWidth"); w > 390 {
				t.Errorf("%s is %d pixels wide on a phone", s.name, w)
			}
		}
	}
}
