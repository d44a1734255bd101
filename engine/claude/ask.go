package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"harness"
)

// ask is a question of the program that waits for an answer.
type ask struct {
	id     string // the program's
	m      *request
	call   *call
	use    harness.ToolUse
	cancel context.CancelFunc
}

// answer is what was decided about an ask.
type answer struct {
	ask      *ask
	decision harness.Decision
	err      error
}

// requested is something that the program wants.
func (r *run) requested(ctx, asks context.Context, m *request) error {
	if m.Type == "control_cancel_request" {
		if a := r.asks[m.RequestID]; a != nil {
			a.cancel()
			delete(r.asks, m.RequestID)
		}
		return nil
	}
	if m.Request.Subtype != "can_use_tool" {
		no := replyBody{Subtype: "error", RequestID: m.RequestID, Error: "not supported: " + m.Request.Subtype}
		return r.reached(r.proc.send(reply{"control_response", no}))
	}
	c, facts := r.tr.asks(m)
	r.noteCalls()
	if err := r.emit(ctx, facts); err != nil {
		return err
	}
	r.ask(asks, m, c)
	return nil
}

// ask begins to ask about a call.
func (r *run) ask(asks context.Context, m *request, c *call) {
	q := &m.Request
	use := harness.ToolUse{
		Call: c.id, Tool: q.ToolName, Access: access(q.ToolName, outside(r.turn.Directory, q.BlockedPath, q.Input)), Input: q.Input,
		Description: describeCall(q.ToolName, cmp.Or(q.Title, q.Description), q.Input), Reason: q.Reason,
	}
	one, cancel := context.WithCancel(asks)
	a := &ask{id: m.RequestID, m: m, call: c, use: use, cancel: cancel}
	r.asks[m.RequestID] = a
	r.asking.Go(func() { r.wait(one, a) })
}

// slow is how long an answer may take before the question is remembered for
// another attempt. Policy is faster, people are not.
const slow = time.Second

// wait asks, and hands the answer over.
func (r *run) wait(ctx context.Context, a *ask) {
	defer a.cancel()
	got := make(chan answer, 1) // so that nobody is left with it
	r.asking.Go(func() {
		d, err := r.host.Ask(ctx, a.use)
		got <- answer{a, d, err}
	})
	t := time.NewTimer(slow)
	defer t.Stop()
	var ans answer
	select {
	case ans = <-got:
	case <-t.C:
		select {
		case r.waiting <- struct{}{}:
		case <-ctx.Done():
		}
		ans = <-got
	}
	select {
	case r.answered <- ans:
	case <-ctx.Done():
	}
}

// answer tells the program what was decided.
func (r *run) answer(ctx, asks context.Context, a answer) error {
	if r.asks[a.ask.id] != a.ask {
		return nil // the program does not want to know any more
	}
	delete(r.asks, a.ask.id)
	if a.err != nil {
		if facts := r.tr.renew(a.ask.call); facts != nil { // the call that was asked about before is over
			if err := r.emit(ctx, facts); err != nil {
				return err
			}
			r.ask(asks, a.ask.m, a.ask.call)
			return nil
		}
	}
	if r.open { // from here on, another attempt asks anew
		if err := r.mark(ctx); err != nil {
			return err
		}
	}
	return r.reached(r.settleAsk(a))
}

// settleAsk hands a decision to the program.
func (r *run) settleAsk(a answer) error {
	d := a.decision
	switch {
	case a.err != nil:
		d = harness.Decision{Verdict: harness.Deny, Reason: "nobody could be asked: " + a.err.Error()}
	case d.Digest != "" && d.Digest != harness.Digest(a.ask.use.Input):
		d = harness.Decision{Verdict: harness.Deny, Reason: "what was allowed was another call"}
	}
	v := judgement(a.ask.m, d)
	if d.Verdict == harness.Allow {
		a.ask.call.allowed(time.Now())
	} else {
		a.ask.call.refused(v.Message)
	}
	return r.proc.send(reply{"control_response", replyBody{Subtype: "success", RequestID: a.ask.id, Response: v}})
}

// judgement is a decision in the program's words.
func judgement(m *request, d harness.Decision) verdict {
	if d.Verdict != harness.Allow {
		return verdict{Behavior: "deny", Message: cmp.Or(d.Reason, "This was not allowed.")}
	}
	v := verdict{Behavior: "allow", UpdatedInput: m.Request.Input}
	switch m.Request.ToolName {
	case question:
		v.UpdatedInput = answers(m.Request.Input, d.Reason)
	case plan:
		v.UpdatedPermissions = []json.RawMessage{json.RawMessage(`{"type":"setMode","mode":"` + asking + `","destination":"session"}`)}
	default:
		if d.Scope == harness.Always || d.Scope == harness.InSession {
			v.UpdatedPermissions = standing(m.Request.Suggestions, m.Request.Input)
		}
	}
	return v
}

// questions is the input of a question.
type questions struct {
	Questions []struct {
		Question string `json:"question"`
		Options  []struct {
			Label string `json:"label"`
		} `json:"options"`
	} `json:"questions"`
}

// unanswered is the answer of who allowed a question and said nothing.
const unanswered = "(no answer: decide yourself)"

// answers adds what was said to the input of a question: one text for all, or
// an object with one for each.
func answers(input json.RawMessage, said string) json.RawMessage {
	var q questions
	var all map[string]json.RawMessage
	if json.Unmarshal(input, &q) != nil || json.Unmarshal(input, &all) != nil {
		return input
	}
	each := make(map[string]string)
	_ = json.Unmarshal([]byte(said), &each) // or it is one text
	chosen := make(map[string]string)
	for _, one := range q.Questions {
		chosen[one.Question] = cmp.Or(each[one.Question], said, unanswered)
	}
	b, err := json.Marshal(chosen)
	if err != nil {
		return input
	}
	all["answers"] = b
	if b, err = json.Marshal(all); err != nil {
		return input
	}
	return b
}

// describeCall is what a person reads about a call.
func describeCall(tool, given string, input json.RawMessage) string {
	var q questions
	if tool != question || json.Unmarshal(input, &q) != nil {
		if tool == plan {
			return cmp.Or(given, "The plan is ready: may it be carried out?")
		}
		return given
	}
	var b strings.Builder
	for i, one := range q.Questions {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(one.Question)
		for j, o := range one.Options {
			b.WriteString(map[bool]string{true: " ", false: " | "}[j == 0] + o.Label)
		}
	}
	return b.String()
}
