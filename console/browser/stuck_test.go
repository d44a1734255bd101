package browser

import (
	"os"
	"path/filepath"
	"testing"
)

// A session that goes in circles needs somebody, although it loses less than
// half of its score: it is in the inbox, first in the list, and counted.
func TestAStuckSessionAsksForSomebody(t *testing.T) {
	inFull(t)
	t.Parallel()
	script := filepath.Join(t.TempDir(), "circles.script")
	if err := os.WriteFile(script, []byte("when circles\nrepeat 6\ncall look {\"path\":\"a\"} => \"the same\"\nend\nhang\nelse\nsay Working.\nhang\nend\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, "--engine", "script:"+script)
	well := h.session("Goes well", "work", nil)
	id := h.session("In circles", "run in circles", nil)
	p := h.visit(t, "/inbox")
	stuck := `document.querySelector('[data-session="` + id + `"]')?.innerText.includes("seems stuck")`
	p.until(stuck)
	p.shot("inbox-stuck")
	if eval[bool](p, `document.querySelector('[data-session="`+well+`"]') !== null`) {
		t.Error("the other is in the inbox, too")
	}
	p.walk("/")
	p.until(`[...document.querySelectorAll('[role="listitem"]')].map((e) => e.innerText.split("\n")[0].toLowerCase()).join(" ") === "needs you in circles running goes well"`)
	p.until(stuck)
	p.walk("/cockpit")
	p.until(`[...document.querySelectorAll("dl > *")].find((e) => e.innerText.startsWith("Stuck"))?.innerText.includes("1")`)
	h.call("POST", "/sessions/"+id+"/cancel", fields{}, nil)
	p.walk("/inbox")
	p.gone(`[data-session="` + id + `"]`)
}
