package script

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"harness"
)

// Bounds of a script: a load test needs no more, and a position stays small.
const (
	maxRepeat = 10_000_000
	maxDepth  = 8
	maxCallID = harness.MaxID - 8 // there is room for the number of a call that is opened again
)

// Parse reads a script. An error names the line. A source with no command is
// the default script, which echoes the prompt.
func Parse(src string) (*Script, error) {
	p := parser{parts: []part{{}}}
	for i, raw := range strings.Split(src, "\n") {
		p.line = i + 1
		line := strings.TrimRight(raw, " \t\r")
		text := strings.TrimLeft(line, " \t")
		if text == "" || text[0] == '#' {
			continue
		}
		if err := p.add(len(line)-len(text), text); err != nil {
			return nil, fmt.Errorf("script line %d: %w", p.line, err)
		}
	}
	if err := p.closePart(); err != nil {
		return nil, fmt.Errorf("script line %d: %w", p.line, err)
	}
	if len(p.parts) == 1 && len(p.parts[0].ops) == 0 {
		return must(defaultText), nil
	}
	return &Script{p.parts}, nil
}

type parser struct {
	line   int
	parts  []part
	blocks []block // innermost last
	open   []int   // ops that opened a call which is still open, newest last
	pace   time.Duration
}

// block is a block that is being read.
type block struct {
	op     int   // repeat, when, else or ask
	indent int   // of the line that opened it
	open   int   // calls that were open before it
	outs   []int // elses that jump to the end of the whole
}

func (p *parser) ops() []op { return p.parts[len(p.parts)-1].ops }

func (p *parser) push(o op) int {
	s := &p.parts[len(p.parts)-1]
	o.line, o.depth = p.line, len(p.blocks)
	for _, b := range p.blocks {
		if s.ops[b.op].verb == "repeat" {
			o.loops++
		}
	}
	s.ops = append(s.ops, o)
	return len(s.ops) - 1
}

// add reads one line.
func (p *parser) add(indent int, text string) error {
	if title, ok := strings.CutPrefix(text, "==="); ok {
		if err := p.closePart(); err != nil {
			return err
		}
		p.parts = append(p.parts, part{title: strings.Join(strings.Fields(title), " ")})
		return nil
	}
	if err := p.closeAsks(indent); err != nil {
		return err
	}
	verb, rest := cutWord(text)
	switch verb {
	case "end":
		return p.end(rest)
	case "else":
		return p.orElse(indent, rest)
	}
	v, ok := verbs[verb]
	if !ok {
		return fmt.Errorf("unknown command %q", verb)
	}
	o := op{verb: verb}
	if err := v.read(&o, rest); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return p.place(indent, o)
}

// place puts a command that was read into its context.
func (p *parser) place(indent int, o op) error {
	switch o.verb {
	case "pace":
		p.pace = o.wait
	case "type", "echo":
		o.wait = p.pace
	case "log", "result", "outcome":
		if len(p.open) == 0 {
			return fmt.Errorf("%s: no call is open here", o.verb)
		}
		o.call = p.open[len(p.open)-1]
	}
	i := p.push(o)
	if o.id != "" && p.ops()[i].loops > 0 {
		return fmt.Errorf("%s: a call inside repeat cannot have an id of its own", o.verb)
	}
	switch {
	case o.verb == "tool":
		p.open = append(p.open, i)
	case o.verb == "outcome":
		if b := len(p.blocks) - 1; b >= 0 && len(p.open) <= p.blocks[b].open {
			return errors.New("outcome: the call was opened outside this block")
		}
		p.open = p.open[:len(p.open)-1]
	case o.verb == "repeat" || o.verb == "when":
		return p.enter(i, indent)
	case o.verb == "ask" && !o.given:
		if err := p.enter(i, indent); err != nil {
			return err
		}
		p.open = append(p.open, i)
	}
	return nil
}

func (p *parser) enter(i, indent int) error {
	if len(p.blocks) == maxDepth {
		return fmt.Errorf("more than %d blocks in each other", maxDepth)
	}
	p.blocks = append(p.blocks, block{op: i, indent: indent, open: len(p.open)})
	return nil
}

// leave closes the innermost block, which must have closed its calls.
func (p *parser) leave() (block, error) {
	b := p.blocks[len(p.blocks)-1]
	if err := p.closed(b.open); err != nil {
		return b, err
	}
	p.blocks = p.blocks[:len(p.blocks)-1]
	return b, nil
}

// closed checks that all but the oldest n calls are closed, or never need be.
func (p *parser) closed(n int) error {
	if ops := p.ops(); len(p.open) > n {
		if last := ops[len(ops)-1].verb; last != "fail" && last != "hang" {
			o := ops[p.open[len(p.open)-1]]
			return fmt.Errorf("the call of %s in line %d is still open", o.name, o.line)
		}
		p.open = p.open[:n]
	}
	return nil
}

// closeAsks ends the blocks of asks whose lines are indented deeper.
func (p *parser) closeAsks(indent int) error {
	for len(p.blocks) > 0 {
		b := p.blocks[len(p.blocks)-1]
		if p.ops()[b.op].verb != "ask" || indent > b.indent {
			return nil
		}
		if err := p.closeAsk(b); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) closeAsk(b block) error {
	if len(p.open) == b.open+1 && p.open[b.open] == b.op {
		p.push(op{verb: "outcome", name: "ok", call: b.op, implied: true})
		p.open = p.open[:b.open]
	}
	if _, err := p.leave(); err != nil {
		return err
	}
	p.ops()[b.op].jump = len(p.ops())
	return nil
}

func (p *parser) end(rest string) error {
	if rest != "" {
		return errors.New("end: nothing may follow")
	}
	if len(p.blocks) == 0 {
		return errors.New("end: no block is open")
	}
	if o := p.ops()[p.blocks[len(p.blocks)-1].op]; o.verb == "ask" {
		return fmt.Errorf("end: is indented into the ask of line %d", o.line)
	}
	b, err := p.leave()
	if err != nil {
		return err
	}
	i := p.push(op{verb: "end", jump: -1})
	ops := p.ops()
	switch ops[b.op].verb {
	case "repeat":
		ops[b.op].jump, ops[i].jump = i+1, b.op
		ops[i].loops++
	case "when":
		ops[b.op].jump = i
	}
	for _, out := range b.outs {
		ops[out].jump = i
	}
	return nil
}

func (p *parser) orElse(indent int, rest string) error {
	if len(p.blocks) == 0 || p.ops()[p.blocks[len(p.blocks)-1].op].verb != "when" {
		return errors.New("else: no when is open")
	}
	b, err := p.leave()
	if err != nil {
		return err
	}
	i := p.push(op{verb: "else"})
	p.ops()[b.op].jump = i + 1
	next := i
	if rest != "" {
		word, words := cutWord(rest)
		if word != "when" {
			return fmt.Errorf("else: want when or nothing, have %q", word)
		}
		o := op{verb: "when", chained: true}
		if err := readWords(&o, words); err != nil {
			return fmt.Errorf("else when: %w", err)
		}
		next = p.push(o)
	}
	if err := p.enter(next, indent); err != nil {
		return err
	}
	p.blocks[len(p.blocks)-1].outs = append(b.outs, i)
	return nil
}

// closePart ends a part: its blocks and calls must be closed.
func (p *parser) closePart() error {
	if err := p.closeAsks(0); err != nil {
		return err
	}
	if n := len(p.blocks); n > 0 {
		o := p.ops()[p.blocks[n-1].op]
		return fmt.Errorf("the %s of line %d has no end", o.verb, o.line)
	}
	p.pace = 0
	return p.closed(0)
}
