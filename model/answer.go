package model

import "slices"

// Answer collects chunks. Its zero value is ready.
type Answer struct {
	Provider string
	Model    string
	Usage    Usage
	Stop     Stop // empty until the answer has ended

	parts []Part
	open  []bool // parts that are calls without an end
}

// Add takes the next chunk.
func (a *Answer) Add(c Chunk) {
	switch c.Kind {
	case ChunkBegin:
		a.Provider, a.Model = c.Provider, c.Name
	case ChunkText:
		a.part(c.Block, PartText).Text += c.Text
	case ChunkThinking:
		p := a.part(c.Block, PartThinking)
		p.Text += c.Text
		p.Provider = a.Provider
	case ChunkSignature:
		p := a.part(c.Block, PartThinking)
		p.Signature, p.ID, p.Redacted, p.Provider = c.Text, c.ID, c.Redacted, a.Provider
	case ChunkCallBegin:
		p := a.part(c.Block, PartCall)
		p.ID, p.Name = c.ID, c.Name
		a.open[c.Block] = true
	case ChunkCallArgs:
		a.part(c.Block, PartCall).Args += c.Text
	case ChunkCallEnd:
		a.part(c.Block, PartCall).Args = c.Text
		a.open[c.Block] = false
	case ChunkUsage:
		a.Usage = c.Usage
	case ChunkStop:
		a.Stop = c.Stop
	case ChunkNote:
	}
}

func (a *Answer) part(block int, kind PartKind) *Part {
	for len(a.parts) <= block {
		a.parts, a.open = append(a.parts, Part{}), append(a.open, false)
	}
	a.parts[block].Kind = kind
	return &a.parts[block]
}

// Message is what was said so far, fit to be sent back: without calls that did
// not end, empty texts, and thoughts whose signature did not come.
func (a *Answer) Message() Message {
	m := Message{Role: Assistant}
	for i, p := range a.parts {
		switch {
		case p.Kind == "", a.open[i]:
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
	return slices.DeleteFunc(slices.Clone(a.Message().Parts), func(p Part) bool { return p.Kind != PartCall })
}

// Text is everything said so far, thoughts excluded.
func (a *Answer) Text() string { return Plain(a.parts) }
