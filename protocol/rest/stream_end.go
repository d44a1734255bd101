package rest

import (
	"context"
	"fmt"

	"harness"
)

// calms reports whether nothing may go on in a session behind such an event.
func calms(p harness.Payload) bool {
	switch p.(type) {
	case *harness.SessionState, *harness.TurnEnd, *harness.Failure:
		return true
	}
	return false
}

// lull is what goes on in a session.
type lull uint8

const (
	astir lull = iota // perhaps something
	calm              // nothing
	over              // nothing, and nothing will
)

// settle looks whether anything goes on in the session, for those who wait for
// its end.
func (r *room) settle(ctx context.Context) {
	r.mu.Lock()
	waiting := r.enders > 0
	r.mu.Unlock()
	if !waiting {
		return
	}
	sum, err := r.f.summary(ctx, r.id)
	if err != nil {
		return // the feed has heard of it, or will
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(sum)
	for _, w := range r.streams {
		r.advance(w)
	}
}

// note takes over what a session's row says, unless the room knows better: from
// the log, or from a row that somebody read later and noted earlier. mu is held.
func (r *room) note(sum harness.Summary) {
	if sum.Seq < max(r.end, r.noted) {
		return
	}
	r.noted, r.lull = sum.Seq, astir
	switch sum.Status {
	case harness.StatusCompleted, harness.StatusFailed, harness.StatusCancelled:
		r.lull = over
	case harness.Idle:
		r.lull = calm
	}
}

// ends reports whether a stream has come to its end: all of its turn was sent,
// or of its session. mu is held.
func (r *room) ends(w *stream) bool {
	switch end := w.until(); {
	case w.stop > 0:
		return w.at >= w.stop
	case end.turn != "": // of a turn that ended before, nothing more will come
		return r.lull >= calm && w.at >= r.noted
	case end.terminal:
		return r.lull == over && w.at >= r.noted
	}
	return false
}

// summary is the row of a session.
func (f *feeds) summary(ctx context.Context, id harness.SessionID) (harness.Summary, error) {
	for sum, err := range f.k.List(ctx, harness.Filter{Session: id, Limit: 1}) {
		return sum, err
	}
	return harness.Summary{}, fmt.Errorf("session %s: %w", id, harness.ErrNotFound)
}
