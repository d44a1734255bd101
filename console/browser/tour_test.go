package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// cast are sessions that screens are shown with: one asks, one is done and has a
// branch, one has an artifact.
type cast struct{ asking, done, large string }

// crowded is a server with sessions of every kind.
func crowded(t *testing.T) (*house, cast) {
	h := newHouse(t)
	asking := h.session("Fix the flaky lexer test", "write `# Lexer notes\n\nOffsets count twice after a CRLF.` to notes.md then run ls -la", nil)
	done := h.session("Tidy the release notes", "write `# Release 0.1\n\n- faster\n- smaller` to RELEASE.md then run `ls -la` then say **All done.** The notes are in `RELEASE.md`.", fields{"permission_mode": "full_auto"})
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
	end := h.until(done, "an end", idle).Seq
	large := h.session("Collect the test logs", "run `seq 1 40000` then say All of it is kept.", fields{"permission_mode": "full_auto"})
	h.until(large, "an end", idle)
	h.call("POST", "/sessions/"+done+"/resume", fields{"title": "Tidy them in another way", "from_event_id": fmt.Sprintf("%s.%d", done, end)}, nil)
	return h, cast{asking, done, large}
}

type screen struct{ name, path, sign string }

// screens are all of them, each with something to be read there.
func screens(c cast) []screen {
	return []screen{
		{"sessions", "/", "Tidy the release notes"},
		{"board", "/?view=board", "Tidy the release notes"},
		{"inbox", "/inbox", "high risk"},
		{"chat-asking", "/s/" + c.asking, "Approve"},
		{"chat", "/s/" + c.done, "All done."},
		{"timeline", "/s/" + c.done + "/timeline", "tool_call"},
		{"changes", "/s/" + c.done + "/changes", "RELEASE.md"},
		{"tree", "/s/" + c.done + "/tree", "Tidy them in another way"},
		{"artifacts", "/s/" + c.large + "/artifacts", "output of bash"},
		{"no-artifacts", "/s/" + c.done + "/artifacts", "No artifacts"},
		{"inspect", "/s/" + c.done + "/inspect?seq=8", "tool"},
		{"past", "/s/" + c.done + "/at/9", "Looking runs nothing"},
		{"cockpit", "/cockpit", "Worst first"},
		{"policy", "/settings/policy", "Test a call"},
		{"budgets", "/settings/budgets", "Cost in US dollars"},
		{"engines", "/settings/engines", "It lacks nothing"},
		{"access", "/settings/tokens", "Another browser"},
		{"notifications", "/settings/notifications", "Nobody is told yet"},
		{"appearance", "/settings/appearance", "As the system"},
		{"keys", "/settings/keys", "Click a key"},
		{"about", "/settings/about", "Inventory of events"},
		{"nothing-found", "/?q=nothing+like+this", "No session is like that"},
		{"assistant-ui", "/chat/" + c.done, "All done."},
		{"not-found", "/s/" + c.done + "/nowhere", "There is nothing here"},
	}
}

// promised are the screens that there must be a picture of: in both themes, on a
// desk and on a phone.
var promised = strings.Fields(`sessions inbox chat timeline changes tree artifacts inspect past cockpit
	policy budgets engines access notifications appearance keys about
	assistant-ui new-session palette login not-found`)

// TestEveryScreenInBothThemes visits everything, asks whether it is accessible,
// and keeps what it looks like.
func TestEveryScreenInBothThemes(t *testing.T) {
	inFull(t)
	t.Parallel()
	h, c := crowded(t)
	script := axe(t)
	p, out := h.visit(t, "/"), &page{Page: chromium.Open(t), t: t, h: h}
	out.expect("401")
	p.read("Fix the flaky lexer test")
	look := func(p *page, name, size, theme string) {
		t.Helper()
		p.shot(name + size + "-" + theme)
		if size == "" || theme == "light" { // colours are those of the large screen
			p.accessible(script, name+size+" "+theme)
		}
		if w := eval[int](p, "document.documentElement.scrollWidth - innerWidth"); w > 0 {
			t.Errorf("%s is %d pixels too wide", name+size, w)
		}
	}
	for _, size := range []string{"", "-phone"} {
		if size != "" {
			p.phone()
			out.phone()
		}
		for _, theme := range []string{"light", "dark"} {
			p.theme(theme)
			for _, s := range screens(c) {
				p.walk(s.path)
				p.read(s.sign)
				look(p, s.name, size, theme)
			}
			p.each(overs(c), func(name string) { look(p, name, size, theme) })
			out.prefers(theme)
			out.goTo("/login")
			out.read("You are not logged in here.")
			look(out, "login", size, theme)
		}
	}
	for _, name := range promised {
		for _, as := range []string{"-light", "-dark", "-phone-light", "-phone-dark"} {
			if !slices.Contains(slices.Concat(p.shots, out.shots), name+as) {
				t.Errorf("there is no picture of %s", name+as)
			}
		}
	}
}

// TestEveryAddressThatIsLinkedToIsVisited: what can be gone to from the bar, the
// tabs of a session and the settings is among the screens.
func TestEveryAddressThatIsLinkedToIsVisited(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Linked", "", nil)
	var known []string
	for _, s := range screens(cast{id, id, id}) {
		path, _, _ := strings.Cut(s.path, "?")
		known = append(known, path)
	}
	p := h.visit(t, "/")
	for _, from := range []string{"/settings/policy", "/s/" + id} {
		p.goTo(from)
		p.until(`document.querySelectorAll("main nav a").length > 5`)
		for _, href := range eval[[]string](p, `[...document.querySelectorAll("nav a")].map((a) => a.getAttribute("href"))`) {
			if !slices.Contains(known, href) && href != "/settings" {
				t.Errorf("%s leads to %s, which is no screen", from, href)
			}
		}
	}
}
