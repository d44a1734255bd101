package kernel

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"harness"
)

// cleaner takes secrets out of what one turn reports, and what the log has of
// it already. The engine's goroutines and the session's share it.
type cleaner struct {
	r Redactor // nil lets everything pass

	mu    sync.Mutex // guards what follows
	item  harness.ItemID
	as    harness.ItemID        // how the engine last named the item
	kind  int                   // which of the texts is under way
	texts [2]*traced            // spoken and thought, of the item
	logs  map[logSource]*traced // live output of calls
	run   following
}

// The texts of a message.
const (
	spoken = iota
	thought
)

// logSource is where live output comes from.
type logSource struct {
	call   harness.CallID
	stream string
}

// maxLogs bounds the texts of calls that are under way at a time: more than any
// engine runs at once. Beyond, what is held back is shown and forgotten.
const maxLogs = 256

func newCleaner(r Redactor, f *harness.Followed) *cleaner {
	return &cleaner{r: r, logs: map[logSource]*traced{}, run: followFrom(f)}
}

// copy is p as the log will tell it, but for texts that stream.
func (c *cleaner) copy(p harness.Payload) (harness.Payload, error) {
	if c.r == nil {
		return harness.CopyPayload(p)
	}
	if s, ok := p.(*harness.SessionCheckpoint); ok {
		if err := c.ref(s.EngineRef); err != nil {
			return nil, err
		}
	}
	p, err := harness.CopyClean(p, c.r.JSON)
	if u, ok := p.(*harness.Unknown); ok {
		u.Name = harness.Type(c.r.String(string(u.Name)))
	}
	return p, err
}

// ref refuses a checkpoint that holds a secret: it could not be kept, and what
// could be kept would lead nowhere.
func (c *cleaner) ref(ref string) error {
	if c.r != nil && c.r.String(ref) != ref {
		return fmt.Errorf("the checkpoint holds a secret: %w", harness.ErrInvalid)
	}
	return nil
}

// bytes is a content without secrets.
func (c *cleaner) bytes(b []byte) []byte {
	if c.r == nil {
		return b
	}
	return []byte(c.r.String(string(b)))
}

// use is a question without secrets.
func (c *cleaner) use(u harness.ToolUse) harness.ToolUse {
	if c.r == nil {
		return u
	}
	u.Call, u.Tool = harness.CallID(c.r.String(string(u.Call))), c.r.String(u.Tool)
	u.Description, u.Reason = c.r.String(u.Description), c.r.String(u.Reason)
	if len(u.Input) > 0 {
		u.Input = c.r.JSON(u.Input)
	}
	return u
}

// err is an error that says nothing it should not.
func (c *cleaner) err(err error) error {
	if c.r == nil || err == nil {
		return err
	}
	if text := err.Error(); c.r.String(text) != text {
		return errors.New(c.r.String(text))
	}
	return err
}

// take is what the session is told when the engine reports p, which is a copy
// and stands at a frame of a run, or at none (0): what was held back and belongs
// before it, and p, unless nothing is left of it for now.
func (c *cleaner) take(frame uint64, p harness.Payload) (before []report, now report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown := c.run.known(frame)
	text, streams := harness.Streamed(p)
	if shown < 0 && (!streams || c.r == nil) {
		return nil, report{}
	}
	var rest string
	switch p := p.(type) {
	case *harness.Token:
		before, p.ItemID, rest = c.words(p.ItemID, spoken, frame, shown, text)
		p.Text = rest
	case *harness.Thinking:
		before, p.ItemID, rest = c.words(p.ItemID, thought, frame, shown, text)
		p.Text = rest
	case *harness.ToolLog:
		before, rest = c.log(p, frame, shown, text)
		p.Text = rest
	case *harness.Reflection: // it is whole, and goes where thoughts go
		before, p.ItemID, rest = c.words(p.ItemID, thought, 0, 0, p.Text)
		if c.r != nil {
			rest += c.texts[thought].flush()
		}
		p.Text = rest
	case *harness.ToolResult:
		before = append(c.held(), c.heldLogs(p.ToolCallID)...)
	case *harness.ToolOutcome:
		before = append(c.held(), c.heldLogs(p.ToolCallID)...)
		maps.DeleteFunc(c.logs, func(from logSource, _ *traced) bool { return from.call == p.ToolCallID })
	default:
		if harness.TierOf(p.Type()) == harness.Default { // readers see it between the words
			before = c.held()
		}
	}
	c.run.last = max(c.run.last, frame)
	if streams && rest == "" && text != "" {
		return before, report{}
	}
	return before, c.report(p)
}

// report is a fact with the place that was reached.
func (c *cleaner) report(p harness.Payload) report {
	if c.run.last == 0 {
		return report{payload: p}
	}
	streams := append(slices.Collect(maps.Values(c.logs)), c.texts[:]...)
	return report{p, c.run.at(streams...)}
}

// words is what can be said of a message's text, and what is held back of
// another.
func (c *cleaner) words(item harness.ItemID, kind int, frame uint64, shown int, text string) (before []report, as harness.ItemID, out string) {
	if c.r == nil {
		return nil, item, text
	}
	if item != "" {
		item = harness.ItemID(c.r.String(string(item)))
	}
	switch other := item != "" && item != c.item; {
	case other:
		before = c.held()
		c.item, c.texts = item, [2]*traced{}
	case kind != c.kind:
		before = c.held()
	}
	c.as, c.kind = item, kind
	if c.texts[kind] == nil {
		c.texts[kind] = &traced{TextStream: c.r.Stream()}
	}
	return before, item, c.texts[kind].say(frame, shown, text)
}

// held is what is held back of the message.
func (c *cleaner) held() []report {
	s := c.texts[c.kind]
	if s == nil {
		return nil
	}
	text := s.flush()
	switch {
	case text == "":
		return nil
	case c.kind == thought:
		return []report{c.report(&harness.Thinking{ItemID: c.as, Text: text})}
	}
	return []report{c.report(&harness.Token{ItemID: c.as, Text: text})}
}

// log is what can be said of a call's output.
func (c *cleaner) log(p *harness.ToolLog, frame uint64, shown int, text string) (before []report, out string) {
	if c.r == nil {
		return nil, text
	}
	p.ToolCallID, p.Stream = harness.CallID(c.r.String(string(p.ToolCallID))), c.r.String(p.Stream)
	from := logSource{p.ToolCallID, p.Stream}
	s := c.logs[from]
	if s == nil {
		if len(c.logs) >= maxLogs {
			before = c.heldLogs("")
			clear(c.logs)
		}
		s = &traced{TextStream: c.r.Stream()}
		c.logs[from] = s
	}
	return before, s.say(frame, shown, text)
}

// heldLogs is what is held back of a call's output; of all, if none is named.
func (c *cleaner) heldLogs(call harness.CallID) (all []report) {
	for from, s := range c.logs {
		if call != "" && from.call != call {
			continue
		}
		if text := s.flush(); text != "" {
			all = append(all, c.report(&harness.ToolLog{ToolCallID: from.call, Stream: from.stream, Text: text}))
		}
	}
	return all
}

// flush is everything that is held back.
func (c *cleaner) flush() []report {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(c.held(), c.heldLogs("")...)
}
