package browser

import "testing"

// held keeps every answer about a session's detail until it is let go, and
// fails the first of them.
const held = `(() => {
  const real = fetch;
  window.held = [];
  window.failed = 0;
  window.fetch = async (...args) => {
    const url = new URL(args[0]);
    if (!/^\/sessions\/ses_\w+$/.test(url.pathname)) return real(...args);
    const signal = args[1]?.signal;
    await new Promise((go, end) => (held.push(go), signal?.addEventListener("abort", () => end(signal.reason))));
    if (failed++ === 0) throw new TypeError("it broke");
    return real(...args);
  };
})()`

// What stands beside a conversation is read while that goes on, however slow the
// answers are, and says when it is of before.
func TestTheSidePanelKeepsUpWithATurnOnASlowLine(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	p := h.visit(t, "/")
	p.onEveryPage(held)
	id := h.session("Slow", "count to 5000", nil) // longer than anybody looks
	p.goTo("/s/" + id)
	goesOn := func() { // and the panel's mark moves with it
		t.Helper()
		seq := h.until(id, "an event", func(row) bool { return true }).Seq
		h.until(id, "more events", func(r row) bool { return r.Seq > seq+20 })
		p.until(`document.querySelector("[data-testid=thread]") !== null`)
	}
	p.until("held.length === 1")
	goesOn()
	eval[bool](p, "(held[0](), true)") // fails, and is asked again
	p.until("held.length === 2")
	goesOn()
	p.gone("aside h2")
	eval[bool](p, "(held[1](), true)") // was not given up meanwhile
	p.see("aside h2")
	p.until("held.length === 3") // the mark has moved
	p.see("[data-stale]")
	p.read("Being read again")
	p.Shot("stale")
	eval[bool](p, "(held.push = (go) => go(), held[2](), true)")
	p.gone("[data-stale]")
	h.call("POST", "/sessions/"+id+"/cancel", fields{}, nil)
	h.until(id, "an end", idle)
	p.until(`document.querySelector("main header").innerText.includes("Idle") && document.querySelector("[data-stale]") === null`)
}
