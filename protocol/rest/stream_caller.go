package rest

import (
	"fmt"
	"time"

	"harness"
)

// terms are what ends a stream beside its client.
type terms struct {
	until  until
	caller string      // the name of the credential that it was opened with
	expiry *time.Timer // of the credential; guarded by the room's mutex
}

// until is what a stream's client wants to end it.
func (w *stream) until() until {
	if w.terms == nil {
		return until{}
	}
	return w.terms.until
}

// errExpired is what a stream is told whose caller is nobody any more.
var errExpired = fmt.Errorf("the credential is not valid any more: %w", harness.ErrUnauthenticated)

// expires ends a stream, which is in its room, at a time; zero is never.
func (w *stream) expires(at time.Time) {
	if at.IsZero() {
		return
	}
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	w.terms.expiry = time.AfterFunc(time.Until(at), func() {
		w.room.mu.Lock()
		defer w.room.mu.Unlock()
		w.fail(errExpired)
	})
}

// closeOf ends the streams that were opened with a credential of this name.
func (f *feeds) closeOf(name string) {
	f.mu.Lock()
	rooms := make([]*room, 0, len(f.rooms))
	for _, r := range f.rooms {
		rooms = append(rooms, r)
	}
	f.mu.Unlock()
	for _, r := range rooms {
		r.mu.Lock()
		for _, w := range r.streams {
			if w.terms != nil && w.terms.caller == name {
				w.fail(errExpired)
			}
		}
		r.mu.Unlock()
	}
}
