package native

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"harness"
	"harness/model"
)

// Kinds of hook_event by which the log says what else the model was told.
const (
	hookSteered = "steering_applied"  // what people said so far came to the model here
	hookTold    = "model_told"        // Reason is a text of ours to the model
	hookStubs   = "context_shortened" // old results were replaced by stubs
)

// freshRounds is how many of the last rounds keep their results when old ones
// are replaced by stubs.
const freshRounds = 3

// conversation is a log as a model reads it: the fold of the session's events
// from some place on. The zero value is an empty one.
type conversation struct {
	rounds []*round
	queue  []word // prompts whose turn has not begun
	steers []word // words to the turn that the model has not been told
	turn   progress
	seq    harness.Seq // of the last event from the log
}

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
}

// word is something a person said.
type word struct {
	item  harness.ItemID
	parts []harness.Part
	seq   harness.Seq
}

// progress is what the log says of the turn it is in.
type progress struct {
	id      harness.TurnID
	prompt  string
	began   time.Time
	waited  time.Duration // for people
	asked   map[harness.ApprovalID]time.Time
	answers int // of the model
	usage   harness.Usage
	priced  bool // every answer had a price
	calls   []*call
	told    int // reflections
	circled int // how many calls there were when it was told of going in circles
	warned  bool
	done    bool                    // it has its result
	items   map[harness.ItemID]bool // those that had text; nil if some may be unknown
	partial bool                    // its beginning is before the place where the fold began
}

// apply folds one event. An event that this process has just emitted has no
// Seq: what it adds is the same.
func (c *conversation) apply(e harness.Event) {
	if e.Seq > 0 {
		c.seq = e.Seq
	}
	switch p := e.Payload.(type) {
	case *harness.SessionState:
		if p.ParentSessionID != "" { // a branch begins: what was under way stayed there
			c.interrupt()
			c.queue, c.steers, c.turn = nil, nil, progress{}
		}
	case *harness.UserMessage:
		c.hear(e, p)
	case *harness.TurnStart:
		c.begin(e, p)
	case *harness.Token:
		c.say(e, p.ItemID, p.Text)
	case *harness.Response:
		if c.turn.items != nil && !c.turn.items[p.ItemID] {
			c.say(e, p.ItemID, p.Text)
		}
	case *harness.Reflection:
		c.turn.told++
		if strings.HasPrefix(p.Text, toldCircle) {
			c.turn.circled = len(c.turn.calls)
		}
		c.tell(e.Seq, p.Text)
	case *harness.ToolCall:
		r := c.answer(e.Seq)
		k := &call{id: string(p.ToolCallID), name: p.Name, args: compact(p.Arguments), turn: e.Turn}
		r.calls = append(r.calls, k)
		c.turn.calls = append(c.turn.calls, k)
	case *harness.ToolResult:
		if k := c.open(p.ToolCallID); k != nil {
			k.output = p.Output
		}
	case *harness.ToolOutcome:
		c.outcome(p)
	case *harness.ApprovalRequired:
		if c.turn.asked != nil {
			c.turn.asked[p.RequestID] = e.Time
		}
	case *harness.ApprovalApplied:
		if since, ok := c.turn.asked[p.RequestID]; ok {
			delete(c.turn.asked, p.RequestID)
			c.turn.waited += e.Time.Sub(since)
		}
	case *harness.Usage:
		c.turn.answers++
		c.turn.usage = *p
	case *harness.Completed:
		c.turn.done = true
	case *harness.ContextWarning:
		c.turn.warned = true
	case *harness.ContextCompacted:
		c.compacted(p)
	case *harness.HookEvent:
		switch p.Kind {
		case hookTold:
			c.tell(e.Seq, p.Reason)
		case hookSteered:
			c.steered()
		case hookStubs:
			c.shorten()
		}
	case *harness.TurnEnd:
		c.steered() // what nobody queued was said all the same
	}
}

// hear takes what a person said.
func (c *conversation) hear(e harness.Event, p *harness.UserMessage) {
	w := word{p.ItemID, p.Parts, e.Seq}
	if p.Source == harness.FromSteer {
		c.steers = append(c.steers, w)
		return
	}
	// A word that came too late for its turn is queued under its own id.
	c.steers = slices.DeleteFunc(c.steers, func(s word) bool { return s.item != "" && s.item == p.ItemID })
	c.queue = append(c.queue, w)
}

// begin starts a turn, or another attempt at it.
func (c *conversation) begin(e harness.Event, p *harness.TurnStart) {
	if c.turn.id == "" && p.Attempt > 1 { // the fold began in the middle of it
		c.turn.id, c.turn.began, c.turn.partial, c.turn.priced = p.TurnID, e.Time, true, true
		c.turn.asked = map[harness.ApprovalID]time.Time{}
	}
	if p.TurnID == c.turn.id {
		c.turn.items = map[harness.ItemID]bool{}
		c.steered()
		if r := c.last(); r != nil && len(r.text) > 0 && len(r.calls) == 0 && !c.turn.done {
			c.tell(e.Seq, toldCut)
		}
		return
	}
	c.turn = progress{id: p.TurnID, began: e.Time, asked: map[harness.ApprovalID]time.Time{}, items: map[harness.ItemID]bool{}, priced: true}
	if p.Fresh {
		c.rounds = nil
	}
	w := word{parts: harness.TextPart(toldUnknown), seq: e.Seq}
	if len(c.queue) > 0 {
		w = c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
	}
	c.turn.prompt = harness.PlainText(w.parts)
	c.tell(w.seq, c.turn.prompt)
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

// start is the place in the log from which the conversation can be folded again.
func (c *conversation) start() harness.Seq {
	if len(c.rounds) == 0 {
		return 0
	}
	seq := c.rounds[0].seq
	for _, w := range slices.Concat(c.queue, c.steers) {
		if w.seq > 0 {
			seq = min(seq, w.seq)
		}
	}
	return max(seq, 1) - 1
}

// clone is a copy that can go on by itself.
func (c *conversation) clone() *conversation {
	d := *c
	d.rounds = make([]*round, len(c.rounds))
	copies := make(map[*call]*call)
	for i, r := range c.rounds {
		n := *r
		n.said, n.text, n.calls = slices.Clip(n.said), slices.Clip(n.text), make([]*call, len(r.calls))
		for j, k := range r.calls {
			n.calls[j] = new(*k)
			copies[k] = n.calls[j]
		}
		d.rounds[i] = &n
	}
	d.turn.calls = slices.Clone(c.turn.calls)
	for i, k := range d.turn.calls {
		if n := copies[k]; n != nil {
			d.turn.calls[i] = n
		}
	}
	d.queue, d.steers = slices.Clone(c.queue), slices.Clone(c.steers)
	d.turn.asked, d.turn.items = cloned(c.turn.asked), cloned(c.turn.items)
	return &d
}

func cloned[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return nil
	}
	n := make(map[K]V, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
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
