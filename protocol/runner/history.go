package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"harness"
)

// chapter is what an engine is asked to do, and where among the run's events
// that was: it sees each as a turn of its own.
type chapter struct {
	after uint64 // the last event before it
	turn  harness.TurnID
	parts []harness.Part
	told  bool // the query brought its beginning along
}

// History is what the query brought along of the log, and then what was said
// and done since, as the log may have it: places are not those of the log, and
// times are when the run began.
func (r *run) History(ctx context.Context, after harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		last, ok := r.brought(after, yield)
		if !ok {
			return
		}
		for e, err := range r.since(ctx, last) {
			if err != nil || e.Seq > after {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// brought yields what the query brought along, and returns its last place.
func (r *run) brought(after harness.Seq, yield func(harness.Event, error) bool) (last harness.Seq, ok bool) {
	for i, raw := range r.history {
		e, err := harness.DecodeEvent(raw)
		if err == nil && i == 0 && e.Seq > after+1 {
			err = fmt.Errorf("the log after %d was not sent along, only after %d: %w", after, e.Seq-1, harness.ErrTooLarge)
		}
		if err != nil {
			yield(harness.Event{}, err)
			return 0, false
		}
		last = e.Seq
		if e.Seq > after && !yield(e, nil) {
			return 0, false
		}
	}
	return last, true
}

// since is the run itself, behind a place.
func (r *run) since(ctx context.Context, at harness.Seq) iter.Seq2[harness.Event, error] {
	r.mu.Lock()
	chapters, began := r.chapters, r.began
	r.mu.Unlock()
	frames, size, _, _ := r.spool.look()
	s := newStream(io.NopCloser(io.NewSectionReader(r.spool.file, 0, size)))
	return func(yield func(harness.Event, error) bool) {
		var turn harness.TurnID
		tell := func(p harness.Payload) bool {
			at++
			return yield(harness.NewEvent(r.session, at, began, turn, p), nil)
		}
		for frame := range frames + 1 {
			for len(chapters) > 0 && chapters[0].after <= frame {
				c := chapters[0]
				chapters = chapters[1:]
				if !c.open(&turn, r, tell) {
					return
				}
			}
			if frame == frames {
				return
			}
			f, err := s.Next()
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(harness.Event{}, fmt.Errorf("read the run: %w", errors.Join(err, harness.ErrStorage)))
				return
			}
			if p := f.Fact(); p != nil && !tell(p) {
				return
			}
		}
	}
}

// open tells how a chapter begins.
func (c *chapter) open(turn *harness.TurnID, r *run, tell func(harness.Payload) bool) bool {
	if *turn != "" && !tell(&harness.TurnEnd{TurnID: *turn, Status: harness.TurnCompleted}) {
		return false
	}
	*turn = c.turn
	if c.told {
		return true
	}
	*turn = "" // a prompt comes before its turn
	prompt := harness.ItemID("itm_" + string(c.turn))
	if !tell(&harness.UserMessage{ItemID: prompt, Source: harness.FromResume, Parts: c.parts}) {
		return false
	}
	*turn = c.turn
	return tell(&harness.TurnStart{TurnID: c.turn, ItemID: prompt + ".answer", Attempt: max(1, r.attempt)})
}

// chapter begins another. r.mu is held, or nobody else has r yet.
func (r *run) chapter(told bool) {
	at, _, _, _ := r.spool.look()
	if r.began.IsZero() {
		r.began = time.Now().UTC().Truncate(time.Millisecond)
	}
	r.chapters = append(r.chapters[:len(r.chapters):len(r.chapters)], chapter{at, r.turn.ID, r.turn.Parts, told})
}
