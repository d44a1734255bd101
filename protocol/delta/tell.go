package delta

import (
	"bytes"
	"strconv"

	"harness"
)

// tell adds the operations for what is different from before.
func (p *projector) tell() {
	if p.was.starts {
		p.tellStatus()
		p.tellError()
	}
	p.tellSession()
	p.tellApprovals()
	if p.st.Rewound != p.was.rewound {
		p.buf = appendRewound(p.buf[:0], p.st.Rewound)
		p.out.Set(p.paths.field("rewind"), p.buf)
	}
	if p.st.Lacks != p.was.lacks {
		p.tellLacks()
	}
	for i := range p.was.messages {
		p.tellMessage(&p.was.messages[i])
	}
	for n := p.was.count; n < p.st.Count(); n++ {
		if p.shows(n) {
			p.buf = appendMessage(p.buf[:0], p.st.Messages[n-p.st.Sealed])
			p.out.Set(p.paths.message(n), p.buf)
		}
	}
	for i := range p.was.calls {
		p.tellCall(&p.was.calls[i])
	}
	if !p.was.starts {
		p.tellError()
		p.tellStatus()
	}
}

func (p *projector) tellStatus() {
	if s := word(p.st.Status); s != p.was.status {
		p.out.SetText(p.paths.field("status"), s)
	}
}

func (p *projector) tellError() {
	switch e := shownError(p.st); {
	case e == p.was.error:
	case e == "":
		p.out.Set(p.paths.field("error"), []byte("null"))
	default:
		p.out.SetText(p.paths.field("error"), e)
	}
}

func (p *projector) tellSession() {
	if p.st.Session != p.was.session {
		p.out.SetText(p.paths.field("sessionId"), string(p.st.Session))
	}
}

// tellApprovals tells all of them: they come and go one by one, so their
// number says whether they changed.
func (p *projector) tellApprovals() {
	if len(p.st.Pending) != p.was.pending {
		p.buf = appendApprovals(p.buf[:0], p.st.Pending)
		p.out.Set(p.paths.field("pendingApprovals"), p.buf)
	}
}

func (p *projector) tellMessage(was *messageMark) {
	m := was.message
	if !p.shows(was.at) {
		return
	}
	if m.Status != was.status {
		p.out.SetText(p.paths.message(was.at, "status"), string(m.Status))
	}
	if grown, ok := p.grown(was.content, m.Content); !ok {
		p.out.SetText(p.paths.message(was.at, "content"), grown)
	} else if grown != "" {
		p.out.AppendText(p.paths.message(was.at, "content"), grown)
	}
	p.tellOptional(p.paths.message(was.at, "reasoning"), was.reasoning, m.Reasoning)
	for k := was.calls; k < len(m.Calls); k++ {
		if k == 0 {
			p.out.Set(p.paths.message(was.at, "toolCalls"), []byte("[]"))
		}
		p.setCall(place{was.at, k}, m.Calls[k])
	}
}

func (p *projector) tellCall(was *callMark) {
	c, n, k := was.call, was.at.message, strconv.Itoa(was.at.call)
	if !p.shows(n) {
		return
	}
	if c.Output.Len() == 0 && was.output.Len() > 0 || c.OutputBytes == 0 && was.bytes > 0 {
		p.setCall(was.at, c) // only a new object loses a key
		return
	}
	p.tellOptional(p.paths.message(n, "toolCalls", k, "output"), was.output, c.Output)
	if c.OutputBytes != was.bytes {
		p.buf = strconv.AppendInt(p.buf[:0], int64(c.OutputBytes), 10)
		p.out.Set(p.paths.message(n, "toolCalls", k, "outputBytes"), p.buf)
	}
	if c.Status != was.status {
		p.out.SetText(p.paths.message(n, "toolCalls", k, "status"), string(c.Status))
	}
}

func (p *projector) setCall(at place, c *harness.Call) {
	p.buf = appendCall(p.buf[:0], c)
	p.out.Set(p.paths.message(at.message, "toolCalls", strconv.Itoa(at.call)), p.buf)
}

// tellOptional tells a text that a view leaves out while it is empty.
func (p *projector) tellOptional(path []string, was, is harness.Text) {
	switch grown, ok := p.grown(was, is); {
	case !ok || was.Len() == 0 && grown != "":
		p.out.SetText(path, grown)
	case grown != "":
		p.out.AppendText(path, grown)
	}
}

// grown is what was added to the end of a text. If it did not grow but was
// replaced, it is the whole new text, and false.
func (p *projector) grown(was, is harness.Text) (string, bool) {
	b := is.Bytes()
	ok := !p.was.rewrite || bytes.HasPrefix(b, was.Bytes())
	if ok {
		b = b[was.Len():]
	}
	if string(b) == p.was.text {
		return p.was.text, ok
	}
	return string(b), ok
}

// shows reports whether message n is in view.
func (p *projector) shows(n int) bool { return n >= p.paths.first }
