package delta

import (
	"harness"
	"harness/internal/object"
)

// projector folds a session's events into a state of its own and tells the
// operations that turn the old view, from message first on, into the new one.
// Its cost follows what an event changes, not what the state holds.
//
// The fold is the truth: the projector notes what an event might touch, lets
// the fold run, and tells what is different. Within an event, parents come
// before children, messages before the status that ends a turn, and the status
// before the messages of a turn that starts.
type projector struct {
	st    *harness.State
	calls map[harness.CallID]place // of the active turn
	was   before
	out   *object.Pending // while telling
	paths paths
	buf   []byte
}

// place is where a call stands: message and call, both counted from 0.
type place struct{ message, call int }

// newProjector starts at st, which it owns from then on, with a view from
// message first on. Its owner may still read it between events, and may seal
// messages that will not change.
func newProjector(st *harness.State, first int) *projector {
	p := &projector{st: st, paths: paths{first: first, at: -1}}
	if st.Turn != nil {
		for n := max(st.Turn.First, st.Sealed); n < st.Count(); n++ {
			p.noteFrom(n, 0)
		}
	}
	return p
}

// project folds e and adds its operations to out.
func (p *projector) project(e harness.Event, out *object.Pending) {
	p.look(e)
	p.st.Apply(e)
	p.noteCalls()
	if p.st.Turn == nil {
		p.calls = nil
	}
	p.out = out
	p.tell()
	p.out = nil
}

// grows is the text that e adds to the end of the newest message, and where,
// if it does nothing else to the view. It is told before the fold of e, whose
// tell would say the same.
func (p *projector) grows(e harness.Event) (path []string, text string) {
	token, ok := e.Payload.(*harness.Token)
	t, n := p.st.Turn, p.st.Count()-1
	if !ok || t == nil || e.Session != p.st.Session || n < max(t.First, p.st.Sealed) || !p.shows(n) {
		return nil, ""
	}
	m := p.st.Messages[n-p.st.Sealed]
	if m.ID != t.Item || token.ItemID != "" && token.ItemID != m.ID || m.Role != harness.Assistant || m.Status != harness.MessageStreaming {
		return nil, ""
	}
	return p.paths.message(n, "content"), token.Text
}
