package rest

import (
	"context"
	"fmt"
	"time"

	"harness"
)

// terms are what ends a stream beside its client.
type terms struct {
	until  until
	caller harness.Caller // that it was opened by
	expiry *time.Timer    // of the credential; guarded by the room's mutex
	seat   *seat
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

// quota is a server that counts who has how many streams.
type quota interface {
	// HoldStream counts a stream of the caller until release, which may be nil,
	// is called.
	HoldStream(ctx context.Context) (release func(), err error)
}

// seat is a stream's place among those of its user.
type seat struct{ release func() }

// seat takes a seat for the caller of ctx, until it leaves.
func (f *feeds) seat(ctx context.Context) (*seat, error) {
	q, ok := f.k.(quota)
	if !ok {
		return new(seat), nil
	}
	release, err := q.HoldStream(ctx)
	return &seat{release}, err
}

// leave gives the seat back, once or more often.
func (s *seat) leave() {
	if s.release != nil {
		s.release()
	}
}

// let gives the stream's seat back.
func (w *stream) let() {
	if w.terms != nil && w.terms.seat != nil {
		w.terms.seat.leave()
	}
}

// closeIf ends the streams of callers that are nobody any more.
func (f *feeds) closeIf(ended func(*harness.Caller) bool) {
	f.mu.Lock()
	rooms := make([]*room, 0, len(f.rooms))
	for _, r := range f.rooms {
		rooms = append(rooms, r)
	}
	f.mu.Unlock()
	for _, r := range rooms {
		r.mu.Lock()
		for _, w := range r.streams {
			if w.terms != nil && ended(&w.terms.caller) {
				w.fail(errExpired)
			}
		}
		r.mu.Unlock()
	}
}
