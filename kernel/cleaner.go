package kernel

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"harness"
)

// cleaner takes secrets out of what one turn reports. The engine's goroutines
// and the session's share it; nil lets everything pass.
type cleaner struct {
	r Redactor

	mu    sync.Mutex // guards what follows
	item  harness.ItemID
	as    harness.ItemID           // how the engine last named the item
	kind  int                      // which of the texts is under way
	texts [2]TextStream            // spoken and thought, of the item
	logs  map[logSource]TextStream // live output of calls
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

func newCleaner(r Redactor) *cleaner {
	if r == nil {
		return nil
	}
	return &cleaner{r: r, logs: map[logSource]TextStream{}}
}

// copy is p as the log will tell it, but for texts that stream.
func (c *cleaner) copy(p harness.Payload) (harness.Payload, error) {
	if c == nil {
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
	if c != nil && c.r.String(ref) != ref {
		return fmt.Errorf("the checkpoint holds a secret: %w", harness.ErrInvalid)
	}
	return nil
}

// use is a question without secrets.
func (c *cleaner) use(u harness.ToolUse) harness.ToolUse {
	if c == nil {
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
	if c == nil || err == nil {
		return err
	}
	if text := err.Error(); c.r.String(text) != text {
		return errors.New(c.r.String(text))
	}
	return err
}

// take is what the session is told when the engine reports p, which is a copy:
// what was held back and belongs before it, and p, unless nothing is left of it
// for now.
func (c *cleaner) take(p harness.Payload) (before []harness.Payload, rest harness.Payload) {
	if c == nil {
		return nil, p
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p := p.(type) {
	case *harness.Token:
		was := p.Text
		before, p.ItemID, p.Text = c.words(p.ItemID, spoken, was)
		if p.Text == "" && was != "" {
			return before, nil
		}
	case *harness.Thinking:
		was := p.Text
		before, p.ItemID, p.Text = c.words(p.ItemID, thought, was)
		if p.Text == "" && was != "" {
			return before, nil
		}
	case *harness.Reflection: // it is whole, and goes where thoughts go
		before, p.ItemID, p.Text = c.words(p.ItemID, thought, p.Text)
		p.Text += c.texts[thought].Flush()
	case *harness.ToolLog:
		was := p.Text
		before = c.log(p)
		if p.Text == "" && was != "" {
			return before, nil
		}
	case *harness.ToolResult:
		before = append(c.held(), c.heldLogs(p.ToolCallID)...)
	case *harness.ToolOutcome:
		before = append(c.held(), c.heldLogs(p.ToolCallID)...)
		maps.DeleteFunc(c.logs, func(from logSource, _ TextStream) bool { return from.call == p.ToolCallID })
	default:
		if harness.TierOf(p.Type()) == harness.Default { // readers see it between the words
			before = c.held()
		}
	}
	return before, p
}

// words is what can be said of a message's text, and what is held back of
// another.
func (c *cleaner) words(item harness.ItemID, kind int, text string) (before []harness.Payload, as harness.ItemID, out string) {
	item = harness.ItemID(c.r.String(string(item)))
	switch other := item != "" && item != c.item; {
	case other:
		before = c.held()
		c.item, c.texts = item, [2]TextStream{}
	case kind != c.kind:
		before = c.held()
	}
	c.as, c.kind = item, kind
	if c.texts[kind] == nil {
		c.texts[kind] = c.r.Stream()
	}
	return before, item, c.texts[kind].Text(text)
}

// held is what is held back of the message.
func (c *cleaner) held() []harness.Payload {
	s := c.texts[c.kind]
	if s == nil {
		return nil
	}
	text := s.Flush()
	switch {
	case text == "":
		return nil
	case c.kind == thought:
		return []harness.Payload{&harness.Thinking{ItemID: c.as, Text: text}}
	}
	return []harness.Payload{&harness.Token{ItemID: c.as, Text: text}}
}

// log makes p what can be said of it.
func (c *cleaner) log(p *harness.ToolLog) (before []harness.Payload) {
	p.ToolCallID, p.Stream = harness.CallID(c.r.String(string(p.ToolCallID))), c.r.String(p.Stream)
	from := logSource{p.ToolCallID, p.Stream}
	s := c.logs[from]
	if s == nil {
		if len(c.logs) >= maxLogs {
			before = c.heldLogs("")
			clear(c.logs)
		}
		s = c.r.Stream()
		c.logs[from] = s
	}
	p.Text = s.Text(p.Text)
	return before
}

// heldLogs is what is held back of a call's output; of all, if none is named.
func (c *cleaner) heldLogs(call harness.CallID) (all []harness.Payload) {
	for from, s := range c.logs {
		if call != "" && from.call != call {
			continue
		}
		if text := s.Flush(); text != "" {
			all = append(all, &harness.ToolLog{ToolCallID: from.call, Stream: from.stream, Text: text})
		}
	}
	return all
}

// flush is everything that is held back.
func (c *cleaner) flush() []harness.Payload {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(c.held(), c.heldLogs("")...)
}
