package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"harness"
)

// nightly is a session in which a file of many lines is written n times, each with
// a checkpoint after it, and in the end a tool runs for six hours.
func nightly(n int) *writer {
	w := newWriter("ses_work", "Much work")
	for i := 1; i <= n; i++ {
		args, err := json.Marshal(map[string]string{"path": "a.txt", "content": strings.Repeat(fmt.Sprintf("line of edit %d\n", i), 60+i)})
		if err != nil {
			panic(err)
		}
		w.say(i, fmt.Sprintf("prompt %d", i), []string{fmt.Sprintf("Answer %d.", i)}, &harness.ToolCall{Name: "write", Arguments: args}, "ok")
		w.add(&harness.SessionCheckpoint{SessionID: w.id, Sequence: i, CheckpointType: "user", Status: "idle", SummaryText: fmt.Sprintf("mark %d", i)})
	}
	w.say(n+1, "run all night", []string{"Good night."}, &harness.ToolCall{Name: "bash", Arguments: json.RawMessage(`{"command":"sleep 6h"}`)}, "ok")
	for i := len(w.events) - 4; i < len(w.events); i++ { // from the result on
		e := &w.events[i]
		*e = harness.NewEvent(w.id, e.Seq, e.Time.Add(6*time.Hour), e.Turn, e.Payload)
	}
	return w
}

// halted keeps answers about the state at an event until it is let go, and
// counts how often a text is measured.
const halted = `(() => {
  const real = fetch, measure = CanvasRenderingContext2D.prototype.measureText;
  window.measured = 0;
  CanvasRenderingContext2D.prototype.measureText = function (...args) { return measured++, measure.apply(this, args); };
  const gate = new Promise((go) => (window.letGo = go));
  window.fetch = async (...args) => {
    if (String(args[0]).includes("at=30")) await gate;
    return real(...args);
  };
})()`

// What a view shows is the newest, and of what it says it is.
func TestViewsShowWhatTheySay(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.imported(t, nightly(50))
	var detail struct {
		Points []struct {
			Seq int `json:"seq"`
		} `json:"resume_points"`
	}
	h.call("GET", "/sessions/"+id, nil, &detail)
	p := h.visit(t, "/")
	p.onEveryPage(halted)

	p.goTo("/s/" + id)
	p.until(`[...document.querySelectorAll('aside a[href*="/at/"]')].map((a) => a.innerText).join() === "mark 50,mark 49,mark 48,mark 47,mark 46,mark 45"`)
	p.walk("/s/" + id + "/tree")
	p.until(fmt.Sprintf(`document.querySelectorAll('main ol a[href*="/at/"]').length === %d`, len(detail.Points)))
	if first, want := eval[string](p, `document.querySelector('main ol a[href*="/at/"]').pathname`), fmt.Sprintf("/s/%s/at/%d", id, detail.Points[0].Seq); first != want {
		t.Errorf("the first place to go back to is %s, want %s", first, want)
	}

	p.walk("/s/" + id + "/at/10")
	p.see(`[data-state="10"]`)
	p.walk("/s/" + id + "/at/30")
	p.see(`[role="log"][aria-busy="true"]`)
	p.read("Loading")
	p.gone("[data-state]")
	eval[bool](p, "(letGo(), true)")
	p.see(`[role="log"][aria-busy="false"] [data-state="30"]`)

	p.walk("/s/" + id + "/changes")
	p.press("1 more line")
	p.until(`!document.body.innerText.includes("1 more line\n")`)
	second := `document.querySelector('select[aria-label="Changes of"] optgroup option:nth-child(2)').value`
	p.walk("/s/" + id + "/changes?since=" + eval[string](p, second))
	p.until(`!document.body.innerText.includes("line of edit 1\n")`)
	p.until(`[...document.querySelectorAll("main section button")].some((b) => b.innerText === "2 more lines")`) // it was not the one that was opened

	for _, zoom := range []string{"1s", "constructor"} {
		p.goTo("/s/" + id + "/timeline?zoom=" + zoom)
		p.until(`Number(document.querySelector("canvas[role=img]")?.dataset.window) > 0`)
		p.until(settled)
		if n := eval[int](p, "measured"); n == 0 || n > 2000 {
			t.Errorf("at %s %d texts were measured", zoom, n)
		}
	}
	p.phone()
	p.goTo("/s/" + id + "/timeline?zoom=1s")
	p.until(`document.querySelectorAll("[role=grid] [data-seq], [data-seq]").length > 5`)
	p.until(settled)
	if n := eval[int](p, "measured"); n > 200 {
		t.Errorf("where there are no lanes %d texts were measured", n)
	}
}

// Escape in a field is the field's: the turn goes on.
func TestEscapeInAFieldStopsNoTurn(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	id := h.session("Goes on", "count to 5000", nil)
	p := h.visit(t, "/s/"+id)
	p.see(steering)
	for _, field := range []string{"Model", "Title"} {
		name := map[string]string{"Model": "usual model", "Title": "Goes on"}[field]
		for range 2 {
			p.press(name)
			p.see(`input[aria-label="` + field + `"]`)
			p.key(escape)
			p.gone(`input[aria-label="` + field + `"]`)
		}
	}
	if said := eval[string](p, `[...document.querySelectorAll("[role=status]")].map((e) => e.innerText).join(" ")`); strings.Contains(said, "Escape") || strings.Contains(said, "top") {
		t.Errorf("it says %q", said)
	}
	if r := h.until(id, "", func(row) bool { return true }); r.Status != "running" {
		t.Errorf("the turn is %s", r.Status)
	}
	h.call("POST", "/sessions/"+id+"/cancel", fields{}, nil)
}
