package rest

import (
	"bytes"
	"context"
	"slices"

	"harness"
	"harness/health"
)

// pulse is the health of a room's session, if some of the room's streams show
// that. Such a stream has no history: it is sent the latest snapshot that it has
// not, and a slow one none in between. The room's mutex guards it.
type pulse struct {
	streams int
	fold    *health.Fold // while the room is fed; only the feed changes it
	essence []byte
	at      harness.Seq // the event that changed it last
	frame   []byte
}

// pulse is the room's, if it has streams of health.
func (r *room) pulse() *pulse {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if len(r.f.beats) == 0 {
		return nil
	}
	return r.f.beats[r]
}

// beating counts a stream of health that comes or goes. mu is held.
func (r *room) beating(n int) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	p := r.f.beats[r]
	if p == nil {
		p = new(pulse)
		r.f.beats[r] = p
	}
	if p.streams += n; p.streams == 0 {
		delete(r.f.beats, r)
	}
}

// calmDown lets go of the fold of a session that sleeps. mu is held.
func (r *room) calmDown() {
	if p := r.pulse(); p != nil {
		p.fold = nil
	}
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
	if first == nil {
		return harness.ErrUnsupported
	}
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	w.rest, w.at = appendHealth(w.rest, *first), st.Seq
	if p := w.room.pulse(); p != nil && p.essence == nil {
		p.essence, p.at = first.Essence(), st.Seq
	}
	return nil
}

// feel has the room know the session's health behind an update, if somebody
// wants to see it. Only the feed calls it.
func (r *room) feel(ctx context.Context, up harness.Update) error {
	p := r.pulse()
	if p == nil {
		return nil
	}
	fold, err := r.examine(ctx, p, up)
	if err != nil || fold == nil {
		return err
	}
	news := up.State != nil || slices.ContainsFunc(up.Events, func(e harness.Event) bool {
		_, streams := harness.Streamed(e.Payload)
		return !streams
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := p.fold != fold
	p.fold = fold
	for _, e := range up.Events {
		if e.Seq == fold.Seq+1 {
			fold.Apply(e)
		}
	}
	if news || fresh {
		p.show()
	}
	return nil
}

// examine is the fold that an update continues: the pulse's own, or that of the
// state. None is kept with what another build has stored.
func (r *room) examine(ctx context.Context, p *pulse, up harness.Update) (*health.Fold, error) {
	st := up.State
	if st == nil {
		r.mu.Lock()
		fold := p.fold
		r.mu.Unlock()
		if fold != nil && (len(up.Events) == 0 || up.Events[0].Seq <= fold.Seq+1) {
			return fold, nil
		}
		var err error
		if st, err = r.f.k.At(ctx, r.id, 0); err != nil {
			return nil, err
		}
	}
	fold, ok := health.Of(st)
	if !ok {
		return nil, nil
	}
	return fold, nil
}

// beat sends a stream of health what it lacks. mu is held, and the stream is
// ready.
func (r *room) beat(w *stream) {
	p := r.pulse()
	if p == nil {
		return
	}
	if p.at > w.at && p.frame != nil {
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
	if p.fold != nil {
		seen = max(seen, p.fold.Seq)
	}
	if w.until().terminal && r.lull == over && seen >= r.noted {
		w.end()
	}
}
