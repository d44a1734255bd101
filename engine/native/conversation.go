package native

import (
	"slices"
	"strings"
	"time"

	"harness"
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
	summary string      // of what was before the rounds
	summed  harness.Seq // where the log has it; 0 if that is not known
	rounds  []*round
	queue   []word // prompts whose turn has not begun
	steers  []word // words to the turn that the model has not been told
	turn    progress
	seq     harness.Seq // of the last event from the log
	begun   []begun     // turns since the first round
	// instructed are the files whose instructions the model has read in it. The
	// map is never changed, only replaced.
	instructed map[string]bool

	full    float64 // hundredths of the window that the last answer left used; 0 if nobody counted
	weighed int     // rounds that were counted
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
	calls   []*call
	unfit   map[string]misfit // by the tool's name
	told    int               // reflections
	step    string            // that it was at last
	circled int               // how many calls there were when it was told of going in circles
	warned  bool
	done    bool                    // it has its result
	ended   []string                // hooks that were told of its end
	summed  bool                    // it is summed up
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
	case *harness.ToolValidationError:
		c.unfit(p)
	case *harness.ToolOutcome:
		c.outcome(p)
	case *harness.StepProgress:
		c.turn.step = p.StepID
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
		if p.ContextPct != nil {
			c.full, c.weighed = *p.ContextPct, len(c.rounds)
		}
	case *harness.Completed:
		c.turn.done = true
	case *harness.Antahkarana:
		c.turn.summed = true
	case *harness.ContextWarning:
		c.turn.warned = true
	case *harness.ContextCompacted:
		c.compacted(e.Seq, p)
		c.full = 0
	case *harness.HookEvent:
		switch p.Kind {
		case string(HookTurnEnd):
			c.turn.ended = append(c.turn.ended, p.Actor)
		case hookTold:
			c.tell(e.Seq, p.Reason)
			if p.Status == whyInstructions {
				c.instructed = cloned(c.instructed)
				c.instructed[p.Actor] = true
			}
		case hookSteered:
			c.steered()
		case hookStubs:
			c.shorten()
			c.full = 0
		}
	case *harness.TurnEnd:
		c.steered() // what nobody queued was said all the same
	}
}

// hear takes what a person said.
func (c *conversation) hear(e harness.Event, p *harness.UserMessage) {
	w := word{p.ItemID, p.Parts, e.Seq}
	if p.Source == harness.FromSteer {
		if !slices.ContainsFunc(c.steers, func(s word) bool { return s.item != "" && s.item == w.item }) { // the log may have it before the turn hears it
			c.steers = append(c.steers, w)
		}
		return
	}
	// A word that came too late for its turn is queued under its own id.
	c.steers = slices.DeleteFunc(c.steers, func(s word) bool { return s.item != "" && s.item == p.ItemID })
	c.queue = append(c.queue, w)
}

// begin starts a turn, or another attempt at it.
func (c *conversation) begin(e harness.Event, p *harness.TurnStart) {
	if c.turn.id == "" && p.Attempt > 1 { // the fold began in the middle of it
		c.turn.id, c.turn.began, c.turn.partial = p.TurnID, e.Time, true
		c.turn.asked = map[harness.ApprovalID]time.Time{}
	}
	if p.TurnID == c.turn.id {
		c.turn.items = map[harness.ItemID]bool{}
		c.steered()
		return
	}
	c.turn = progress{id: p.TurnID, began: e.Time, asked: map[harness.ApprovalID]time.Time{}, items: map[harness.ItemID]bool{}}
	if p.Fresh {
		c.rounds, c.summary, c.instructed, c.full = nil, "", nil, 0
	}
	w := word{parts: harness.TextPart(toldUnknown), seq: e.Seq}
	if len(c.queue) > 0 {
		w = c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
	}
	c.turn.prompt = harness.PlainText(w.parts)
	c.begun = append(c.begun, begun{e.Seq, w.seq})
	c.tell(w.seq, c.turn.prompt)
	if p.Fresh {
		c.forget()
	}
}
