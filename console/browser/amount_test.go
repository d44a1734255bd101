package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// work is a session that does a bit of everything: it spends, changes two files,
// hands something on, waits, and is asked about one call.
const work = `think Two places count the same offset.
say I'll look at the failing test first.
call read {"path":"lexer_test.go"} => "package lexer"
call edit {"path":"lexer.go","old":"a\nb\nc","new":"a\nB"} => "changed"
usage 900 200 0.25
emit subagent_event {"agent_id":"agt_1","status":"running","task":"Map the packages"}
tool bash {"command":"go test ./lexer -run TestOffsets"}
wait 1200ms
outcome error 1200ms "exit status 1"
emit session_checkpoint {"checkpoint_type":"step","summary_text":"the fault is found"}
emit context_compacted {"original_count":24,"compacted_count":10,"tokens_saved":4200,"summary":"The lexer counts offsets twice."}
emit subagent_event {"agent_id":"agt_1","status":"completed","summary":"Mapped 14 files"}
call write {"path":"notes.md","content":"one\ntwo\n"} => "written"
usage 1800 400 0.75
say All done.
`

// What a session cost and changed is to be seen wherever sessions are, and when
// it was in the timeline, as near as one likes.
func TestASessionTellsWhatItCostAndChanged(t *testing.T) {
	inFull(t)
	t.Parallel()
	script := filepath.Join(t.TempDir(), "work.script")
	if err := os.WriteFile(script, []byte(work), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, "--engine", "script:"+script)
	id := h.session("Fix the flaky lexer test", "go on", nil)
	end := h.until(id, "an end", idle).Seq
	h.call("POST", "/sessions/"+id+"/resume", fields{"title": "Try without it", "from_event_id": fmt.Sprintf("%s.%d", id, end)}, nil)
	p := h.visit(t, "/")
	says := func(where string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			p.until(`document.querySelector(` + quote(where) + `)?.innerText.replace(/\s+/g, " ").includes(` + quote(text) + `)`)
		}
	}
	says(`[data-session="`+id+`"]`, "2 files +3 −2", "$0.75")

	p.walk("/s/" + id + "/changes")
	says("main", "2 files +3 −2") // as the page counts what it has read
	p.walk("/s/" + id)
	says(`[data-note="checkpoint"]`, "the fault is found")
	says(`[data-note="compaction"]`, "Context compacted")
	p.accessible(axe(t), "a conversation with notes")
	p.shot("amount-chat")
	p.walk("/s/" + id + "/timeline")
	shown := `Number(document.querySelector("canvas[data-window]").dataset.window)`
	p.until(shown + " > 0")
	all := eval[int](p, shown)
	p.key("d")
	p.until(`document.querySelector('[role="grid"]').innerText.includes("usage")`)
	p.shot("amount-timeline-debug")
	p.key("+")
	p.until(`location.search.includes("zoom=1s")`)
	if near := eval[int](p, shown); near > 1000 || near > all {
		t.Errorf("%d ms of %d are shown", near, all)
	}
	p.key(",")
	p.until(`location.search.includes("seq=")`)
	p.shot("amount-timeline-near")
	p.press("Live")
	p.until(`!location.search.includes("seq=") && location.search.includes("zoom=1s")`)
	p.key("-")
	p.until(`!location.search.includes("zoom=")`)
	p.accessible(axe(t), "a timeline that is zoomed")

	for _, as := range []string{"-light", "-dark", "-phone-light"} {
		if as == "-phone-light" {
			p.phone()
		}
		p.theme(as[strings.LastIndex(as, "-")+1:])
		p.walk("/?view=board")
		says(`[data-session="`+id+`"]`, "2 files +3 −2", "$0.75")
		p.shot("amount-board" + as)
		p.walk("/cockpit")
		says(`[data-testid="spend"]`, "$0.75 today")
		p.shot("amount-cockpit" + as)
		p.walk("/s/" + id + "/tree")
		p.until(`document.querySelectorAll("main input[type=checkbox]").length === 2`)
		eval[bool](p, `([...document.querySelectorAll("main input[type=checkbox]")].forEach((x) => x.click()), true)`)
		says(`[data-testid="compare"]`, "Files changed 2 files +3 −2 2 files +3 −2")
		says(`nav a[href$="/changes"]`, "Changes 2")
		p.shot("amount-tree" + as)
		p.walk("/s/" + id + "/timeline?seq=12")
		p.read("tool_call")
		p.shot("amount-timeline" + as)
		p.walk("/")
		says(`[data-session="`+id+`"]`, "Fix the flaky lexer test")
		p.shot("amount-sessions" + as)
	}
}
