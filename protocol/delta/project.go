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
