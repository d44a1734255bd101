package model

import (
	"slices"
	"strings"
)

// Answer collects chunks. Its zero value is ready.
type Answer struct {
	Provider string
	Model    string
	Usage    Usage
	Stop     Stop // empty until the answer has ended

	parts []*growing
}

// growing is a part to which text is added in pieces.
type growing struct {
	Part
	text strings.Builder // of the part, or arguments of the call
	open bool            // a call without an end
}

// Add takes the next chunk.
func (a *Answer) Add(c Chunk) {
	switch c.Kind {
	case ChunkBegin:
		a.Provider, a.Model = c.Provider, c.Name
	case ChunkText:
		a.part(c.Block, PartText).text.WriteString(c.Text)
	case ChunkThinking:
		p := a.part(c.Block, PartThinking)
		p.text.WriteString(c.Text)
		p.Provider = a.Provider
	case ChunkSignature:
		p := a.part(c.Block, PartThinking)
		p.Signature, p.ID, p.Redacted, p.Provider = c.Text, c.ID, c.Redacted, a.Provider
	case ChunkCallBegin:
		p := a.part(c.Block, PartCall)
		p.ID, p.Name, p.open = c.ID, c.Name, true
	case ChunkCallArgs:
		a.part(c.Block, PartCall).text.WriteString(c.Text)
	case ChunkCallEnd:
		p := a.part(c.Block, PartCall)
		p.Args, p.open = c.Text, false
	case ChunkUsage:
		a.Usage = c.Usage
	case ChunkStop:
		a.Stop = c.Stop
	case ChunkNote:
	}
}

func (a *Answer) part(block int, kind PartKind) *growing {
	for len(a.parts) <= block {
		a.parts = append(a.parts, &growing{})
	}
	a.parts[block].Kind = kind
	return a.parts[block]
}

// Message is what was said so far, fit to be sent back: without calls that did
// not end, empty texts, and thoughts whose signature did not come.
func (a *Answer) Message() Message {
	m := Message{Role: Assistant}
	for _, g := range a.parts {
		p := g.Part
		if p.Kind != PartCall {
			p.Text = g.text.String()
		}
		switch {
		case p.Kind == "", g.open:
		case p.Kind == PartText && p.Text == "":
		case p.Kind == PartThinking && p.Signature == "" && a.Stop == "":
		default:
			m.Parts = append(m.Parts, p)
		}
	}
	return m
}

// Calls are the calls that ended, in the order in which they began.
func (a *Answer) Calls() []Part {
	return slices.DeleteFunc(a.Message().Parts, func(p Part) bool { return p.Kind != PartCall })
}

// Text is everything said so far, thoughts excluded.
func (a *Answer) Text() string { return Plain(a.Message().Parts) }
