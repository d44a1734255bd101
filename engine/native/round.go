package native

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"harness"
	"harness/model"
)

// round is one exchange: what was said to the model, and its answer. Results
// of its calls are at the front of what the next round says.
type round struct {
	said   []model.Part
	text   []byte // of the answer, without line breaks before it
	calls  []*call
	closed bool         // some call has its outcome, so what comes is another round
	exact  []model.Part // the answer with its thoughts; not from the log
	seq    harness.Seq  // of the first event it is made of; 0 if not from the log
}

// call is one tool call and what the model is told of its end.
type call struct {
	id, name, args string
	turn           harness.TurnID
	output         string // of tool_result
	text           string // the whole, once done
	status         string // of the outcome; empty while open
	images         []model.Part
	unfit          bool // its arguments did not fit
}

// last is the newest round; nil if there is none.
func (c *conversation) last() *round {
	if len(c.rounds) == 0 {
		return nil
	}
	return c.rounds[len(c.rounds)-1]
}

// answered reports whether the model has said something in the round.
func (r *round) answered() bool { return len(r.text) > 0 || len(r.calls) > 0 || r.closed }

// tell adds a text to what the model reads next.
func (c *conversation) tell(seq harness.Seq, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	r := c.last()
	if r == nil || r.answered() {
		r = &round{seq: seq}
		c.rounds = append(c.rounds, r)
	}
	if seq > 0 { // a prompt that waited was said before
		r.seq = min(r.seq, seq)
	}
	r.said = append(r.said, model.Part{Kind: model.PartText, Text: text})
}

// steered tells the model what people have said to the turn.
func (c *conversation) steered() {
	for _, w := range c.steers {
		c.tell(w.seq, harness.PlainText(w.parts))
	}
	c.steers = nil
}

// answer is the round that the model's words and calls go to.
func (c *conversation) answer(seq harness.Seq) *round {
	r := c.last()
	if r == nil || r.closed {
		r = &round{seq: seq}
		c.rounds = append(c.rounds, r)
	}
	return r
}

func (c *conversation) say(e harness.Event, item harness.ItemID, text string) {
	r := c.answer(e.Seq)
	if len(r.text) == 0 {
		text = strings.TrimLeft(text, "\n")
	}
	r.text = append(r.text, text...)
	if c.turn.items != nil {
		c.turn.items[item] = true
	}
}

// open finds a call without an outcome.
func (c *conversation) open(id harness.CallID) *call {
	for _, r := range slices.Backward(c.rounds) {
		for _, k := range r.calls {
			if k.id == string(id) && k.status == "" {
				return k
			}
		}
	}
	return nil
}

// pending are the calls of the turn that wait to be run.
func (c *conversation) pending() (open []*call) {
	if r := c.last(); r != nil {
		for _, k := range r.calls {
			if k.status == "" {
				open = append(open, k)
			}
		}
	}
	return open
}

func (c *conversation) outcome(p *harness.ToolOutcome) {
	k := c.open(p.ToolCallID)
	if k == nil { // of a call before the place where the fold began
		if r := c.last(); r != nil {
			r.closed = true
		}
		return
	}
	k.status, k.text = p.Status, toldOutcome(k.output, p)
	if !k.unfit {
		delete(c.turn.unfit, k.name)
	}
	for _, r := range slices.Backward(c.rounds) {
		if slices.Contains(r.calls, k) {
			r.closed = true
			return
		}
	}
}

// interrupt closes what is open, as a branch does.
func (c *conversation) interrupt() {
	for _, r := range c.rounds {
		for _, k := range r.calls {
			if k.status == "" {
				k.status, k.text, r.closed = harness.OutcomeError, toldInterrupted, true
			}
		}
	}
}

// known reports whether a call of this id is in the conversation or the turn.
func (c *conversation) known(id string) bool {
	if slices.ContainsFunc(c.turn.calls, func(k *call) bool { return k.id == id }) {
		return true
	}
	return slices.ContainsFunc(c.rounds, func(r *round) bool {
		return slices.ContainsFunc(r.calls, func(k *call) bool { return k.id == id })
	})
}

// shorten replaces old results by stubs.
func (c *conversation) shorten() {
	for _, r := range c.rounds[:max(0, len(c.rounds)-freshRounds)] {
		for _, k := range r.calls {
			k.stub()
		}
	}
}

// compact is JSON as the log keeps it; what is not an object is one.
func compact(args json.RawMessage) string {
	p := model.Part{Args: string(args)}
	var b bytes.Buffer
	if err := json.Compact(&b, p.Object()); err != nil {
		panic("native: an object is not JSON: " + err.Error())
	}
	return b.String()
}
