package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"harness"
	"harness/policy"
)

// act lets one random thing happen.
func (w *world) act() {
	w.now = w.now.Add(time.Duration(w.rng.IntN(12)) * time.Millisecond)
	if w.crashAt >= 0 && w.commits >= w.crashAt && w.flight != nil {
		w.crashAt = -1
		w.crash(w.landed)
		return
	}
	switch n := w.rng.IntN(100); {
	case n >= 80 && n < 88 && w.waits():
		w.callUp()
	case n < 12 && w.filing != nil:
		w.filed()
	case n < 30 && w.flight != nil:
		events := w.flight.Events
		w.land()
		w.step(appended{events: events})
	case n < 60 && w.engine != nil:
		w.engineAct(w.engine)
	case n < 64 && len(w.late) > 0:
		w.engineAct(w.late[w.rng.IntN(len(w.late))])
	case n < 80:
		w.clientAct()
	case n < 84:
		w.step(joined{from: nil})
	case n < 90:
		w.now = w.now.Add(time.Duration(w.rng.IntN(1500)) * time.Millisecond)
		w.step(ticked{})
	case n < 91:
		w.now = w.now.Add(2 * time.Minute)
		w.step(ticked{})
	case n < 92 && w.crashAt == -1 && w.rng.IntN(4) == 0:
		w.crash(w.rng.IntN(2) == 0)
	case n < 94 && w.rung:
		w.rung = false
		w.step(ruled{})
		w.checkReleased()
	case n >= 96:
		w.legislate()
	default:
		w.step(ticked{})
	}
}

func (w *world) clientAct() {
	text := harness.TextPart([]string{"hello", "do it", "日本語 🙂", "x"}[w.rng.IntN(4)])
	key := ""
	if w.rng.IntN(2) == 0 {
		key = fmt.Sprintf("key%d", w.rng.IntN(20))
	}
	var cmd harness.Command
	switch w.rng.IntN(13) {
	case 12:
		cmd = harness.Rewind{Message: "itm_1", DryRun: w.rng.IntN(3) == 0, ClientKey: strings.Replace(key, "key", "rewind", 1)}
	case 0, 1, 2, 3:
		cmd = harness.Submit{Parts: text, ClientKey: key, OnBusy: []harness.OnBusy{"", harness.Reject, harness.Enqueue, harness.Interrupt}[w.rng.IntN(4)], Source: harness.FromResume}
	case 4:
		cmd = harness.Steer{Parts: text, ClientKey: key}
	case 5:
		cmd = harness.Cancel{}
	case 6, 7, 8:
		a := harness.Answer{Decision: harness.Decision{Verdict: harness.Allow, Scope: []harness.Scope{"", harness.Once, harness.Always}[w.rng.IntN(3)]}}
		if w.rng.IntN(8) == 0 {
			a.Decision.Scope = harness.InSession
		}
		if w.rng.IntN(3) == 0 {
			a.Decision.Verdict = harness.Deny
		}
		if p := w.m.state.Pending; len(p) > 0 && w.rng.IntN(5) > 0 {
			a.Approval = p[w.rng.IntN(len(p))].ID
		} else {
			a.Call = harness.CallID(fmt.Sprintf("call%d", w.rng.IntN(6)))
		}
		cmd = a
	case 9:
		mode := []harness.Mode{harness.Normal, harness.Normal, harness.AcceptEdits, "nonsense"}[w.rng.IntN(4)]
		patch := harness.ConfigPatch{PermissionMode: &mode}
		if p := w.bounds(int64(len(w.log))/8 + 1); p != nil && w.rng.IntN(2) == 0 { // a limit is raised
			patch.Health = p.Health
		}
		cmd = harness.Configure{Patch: patch}
	case 10:
		cmd = harness.Pause{}
	case 11:
		cmd = harness.Resume{}
	}
	c := &client{cmd}
	w.clients[c] = true
	w.step(commanded{c, cmd})
}

func (w *world) engineAct(e *modelEngine) {
	if e.waiting && !e.stopped {
		return
	}
	emit := func(p harness.Payload) { w.step(emitted{e.turn, report{payload: p}}) }
	any := func() harness.CallID {
		if len(e.calls) == 0 || w.rng.IntN(8) == 0 {
			return harness.CallID(fmt.Sprintf("call%d", w.rng.IntN(6)))
		}
		return e.calls[w.rng.IntN(len(e.calls))]
	}
	switch n := w.rng.IntN(20); {
	case e.stopped && n < 8, n < 2:
		var err error
		switch {
		case e.stopped:
			err = errors.New("stopped")
		case w.rng.IntN(3) == 0:
			err = errors.New("engine failed")
		}
		w.end(e, err)
	case n < 8:
		emit(&harness.Token{Text: []string{"a", "bc ", "é🙂", ""}[w.rng.IntN(4)]})
	case n < 10:
		emit(&harness.Thinking{Text: "hm "})
	case n < 13:
		e.n++
		id := harness.CallID(fmt.Sprintf("call%d", w.rng.IntN(6)))
		e.calls = append(e.calls, id)
		emit(&harness.ToolCall{ToolCallID: id, Name: "bash", Arguments: []byte(`{"cmd":"ls"}`)})
	case n < 14:
		emit(&harness.ToolLog{ToolCallID: any(), Stream: "stdout", Text: "line\n"})
	case n < 15:
		emit(&harness.ToolResult{ToolCallID: any(), Output: "done"})
	case n < 17:
		emit(&harness.ToolOutcome{ToolCallID: any(), Status: []string{"ok", "error", "timeout", "denied", "artifact"}[w.rng.IntN(5)]})
	case n < 19:
		a := &asking{e, []harness.Access{harness.AccessExecute, harness.AccessRead}[w.rng.IntN(8)/7]}
		w.asked[a] = true
		e.waiting = true
		if w.rng.IntN(8) == 0 {
			w.step(delegated{a, e.turn})
			return
		}
		w.step(asked{a, e.turn, harness.ToolUse{Call: any(), Tool: tools[w.rng.IntN(len(tools))], Access: a.access}, nil})
	default:
		e.waiting = true
		w.step(checkpointed{e, e.turn, "ref"})
	}
}

func (w *world) end(e *modelEngine, err error) {
	e.over = true
	if w.engine == e {
		w.engine = nil
	}
	for i, l := range w.late {
		if l == e {
			w.late = append(w.late[:i:i], w.late[i+1:]...)
			break
		}
	}
	for a := range w.asked {
		if a.engine == e {
			delete(w.asked, a)
		}
	}
	w.step(ended{turn: e.turn, err: err, retry: err != nil && w.rng.IntN(2) == 0})
}

// finish lets everything that is under way end, then checks the whole story.
func (w *world) finish() {
	for i := 0; w.flight != nil || w.engine != nil || len(w.late) > 0 || len(w.m.batch.drafts) > 0 || w.rung || w.filing != nil || w.waits(); i++ {
		if i > 10_000 {
			w.failf("the session never comes to rest")
		}
		w.now = w.now.Add(100 * time.Millisecond)
		switch {
		case w.rung:
			w.rung = false
			w.step(ruled{})
		case w.filing != nil:
			w.filed()
		case w.flight != nil:
			events := w.flight.Events
			w.land()
			w.step(appended{events: events})
		case w.waits():
			w.now = later(w.now, w.m.state.Course.Retry)
			w.callUp()
		case w.engine != nil:
			w.end(w.engine, nil)
		case len(w.late) > 0:
			w.end(w.late[0], nil)
		default:
			w.step(ticked{})
		}
	}
	w.checkReleased()
	for c := range w.clients {
		w.failf("a command was never answered: %+v", c.cmd)
	}
	w.checkLog()
}

// legislate makes or revokes a rule, as another session or a person would.
func (w *world) legislate() {
	if n := len(w.book); n > 0 && w.rng.IntN(3) > 0 {
		id := w.book[w.rng.IntN(n)].ID
		w.note("revoke %s", id)
		is := func(r harness.Rule) bool { return r.ID == id }
		w.rules, w.book = slices.DeleteFunc(w.rules, is), slices.DeleteFunc(slices.Clone(w.book), is)
		w.gone = append(w.gone, id)
		return
	}
	tool := tools[w.rng.IntN(len(tools))]
	if _, ok := policy.Covering(nil, policy.Context{Directory: "/w"}, w.rules, tool, nil); ok || !w.ruling() {
		return
	}
	w.ids++
	r := harness.Rule{ID: harness.RuleID(fmt.Sprintf("rul_other%d", w.ids)), Directory: "/w", Tool: tool, Session: "ses_other"}
	w.note("another session makes %s for %s", r.ID, tool)
	w.rules, w.book, w.rung = append(w.rules, r), append(w.book, r), true
}
