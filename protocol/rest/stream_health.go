package rest

import (
	"bytes"
	"context"
	"slices"

	"harness"
	"harness/health"
)

// pulse is the health of a room's session while it is awake, if some of the
// room's streams show that. Such a stream has no history: it is sent the latest
// snapshot that it has not, and a slow one none in between.
type pulse struct {
	fold    *health.Fold
	essence []byte
	at      harness.Seq // the event that changed it last
	frame   []byte
}

// show makes the frame of what the fold tells now, if that is news.
func (p *pulse) show() {
	s := p.fold.Snapshot()
	if now := s.Essence(); !bytes.Equal(now, p.essence) {
		p.essence, p.at, p.frame = now, s.Seq, appendHealth(nil, s)
	}
}

// appendHealth appends a snapshot as streams carry it.
func appendHealth(dst []byte, s health.Snapshot) []byte {
	return appendEvent(dst, harness.NewEvent(s.SessionID, s.Seq, s.AsOf, "", &harness.HealthSnapshot{RawMessage: s.JSON()}))
}

// greet gives a stream of health its first snapshot. It is in its room already,
// so that nothing is missed that happens meanwhile.
func (f *feeds) greet(ctx context.Context, w *stream) error {
	st, err := f.k.At(ctx, w.room.id, 0)
	if err != nil {
		return err
	}
	first := healthOf(st)
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if first == nil {
		return harness.ErrUnsupported
	}
	w.rest = appendHealth(w.rest, *first)
	w.at = st.Seq
	return nil
}

// feel has the room know the session's health behind an update, if somebody
// wants to see it. Only the feed calls it.
func (r *room) feel(ctx context.Context, up harness.Update) error {
	r.mu.Lock()
	wanted, p := r.beats > 0, r.pulse
	r.mu.Unlock()
	if !wanted {
		return nil
	}
	told := true
	if p != nil && up.State == nil {
		told = slices.ContainsFunc(up.Events, func(e harness.Event) bool {
			_, streams := harness.Streamed(e.Payload)
			return !streams
		})
	}
	if p == nil || up.State != nil || len(up.Events) > 0 && up.Events[0].Seq > p.fold.Seq+1 { // nobody but the feed changes it
		st := up.State
		if st == nil {
			var err error
			if st, err = r.f.k.At(ctx, r.id, 0); err != nil {
				return err
			}
		}
		fold, ok := health.Of(st)
		if !ok {
			return nil // of another build
		}
		now := &pulse{fold: fold}
		if p != nil {
			now.essence, now.at, now.frame = p.essence, p.at, p.frame
		}
		p = now
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range up.Events {
		if e.Seq == p.fold.Seq+1 {
			p.fold.Apply(e)
		}
	}
	if told {
		p.show()
	}
	r.pulse = p
	return nil
}

// beat sends a stream of health what it lacks. mu is held, and the stream is
// ready.
func (r *room) beat(w *stream) {
	p := r.pulse
	if p != nil && p.at > w.at {
		n, err := w.conn.Write(p.frame)
		switch {
		case err != nil:
			w.ended = true
			return
		case n == len(p.frame):
			w.at = p.at
		default:
			if w.blocked = true; n > 0 {
				w.rest, w.at = slices.Clone(p.frame[n:]), p.at
			}
			return
		}
	}
	seen := w.at
	if p != nil {
		seen = max(seen, p.fold.Seq)
	}
	if w.until().terminal && r.over && r.calm > 0 && seen >= r.calm {
		w.end()
	}
}
