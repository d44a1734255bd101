package kernel

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"harness"
	"harness/health"
)

// saving is where a session stands with its snapshots.
type saving struct {
	busy bool
	last harness.Seq // the newest snapshot
	cost int         // bytes of its head
}

// saved is the end of one.
type saved struct {
	seq    harness.Seq
	sealed int
	cost   int
	err    error
}

// eventCost is a low guess of an event's bytes. A head is written again only
// after the log has grown by about its size, so that snapshots at most double
// what a session writes, however long a turn is.
const eventCost = 64

// saveIfDue asks the machine for a durable state to save, if the log has grown
// enough since the last one.
func (s *session) saveIfDue() {
	if s.k.snaps == nil || s.save.busy || s.m.dead {
		return
	}
	grown := int(s.m.durable) - int(s.save.last)
	if grown < s.k.opts.SnapshotEvery || grown < s.save.cost/eventCost {
		return
	}
	s.save.busy = true
	s.carryOut(context.Background(), s.m.step(time.Now(), joined{s.keeps}))
}

// keep writes a snapshot in its own goroutine, so that no command waits for it.
func (s *session) keep(ctx context.Context, snap snapshot) {
	if snap.err != nil {
		s.save.busy = false
		return
	}
	s.k.wg.Go(func() { s.saved <- s.k.keep(context.WithoutCancel(ctx), snap.state) })
}

// sealed lets go of the messages that a snapshot took over.
func (s *session) sealed(r saved) {
	s.save.busy = false
	s.save.last = max(s.save.last, r.seq) // also after an error: the next try comes after as many events again
	if r.err != nil {
		s.log.Warn("snapshot not saved", "seq", r.seq, "err", r.err)
		return
	}
	s.save.cost = r.cost
	s.m.state.Seal(r.sealed)
}

// saveLast writes the state that a session goes to sleep with, so that it is
// served and woken without reading the log.
func (s *session) saveLast(ctx context.Context) {
	if s.k.snaps == nil || s.m.dead || s.m.state.Seq != s.m.durable || s.m.durable <= s.save.last {
		return
	}
	s.sealed(s.k.keep(ctx, s.m.copy()))
}

// keep seals what can be sealed of st and saves the rest as its head.
func (k *Kernel) keep(ctx context.Context, st *harness.State) saved {
	snap := harness.Snapshot{Session: st.Session, Seq: st.Seq, First: st.Sealed}
	n := st.Sealable()
	for _, m := range st.Messages[:n] {
		snap.Sealed = append(snap.Sealed, harness.EncodeMessage(m))
	}
	st.Seal(n)
	snap.State = harness.EncodeState(st)
	return saved{seq: st.Seq, sealed: n, cost: len(snap.State), err: k.snaps.SaveSnapshot(ctx, snap)}
}

// load is the state of a session at a position (0: its end). kept is the place
// of the snapshot that it was folded from.
func (k *Kernel) load(ctx context.Context, id harness.SessionID, at harness.Seq) (st *harness.State, kept harness.Seq, err error) {
	if st, kept, err = k.fold(ctx, id, at); err != nil {
		return nil, 0, err
	}
	st.Session = id
	return st, kept, nil
}

// fold is load, except that the state names whose event its last one is: an
// ancestor's, if the position is in the part that a branch inherited. It begins
// with the newest snapshot before the position, and folds the events after
// that. A position beyond the log's end is ErrInvalid. At most a few folds run
// at once, so that a burst of wakes cannot take all memory and cores.
func (k *Kernel) fold(ctx context.Context, id harness.SessionID, at harness.Seq) (st *harness.State, kept harness.Seq, err error) {
	select {
	case k.loads <- struct{}{}:
		defer func() { <-k.loads }()
	case <-ctx.Done():
		return nil, 0, context.Cause(ctx)
	}
	st = new(harness.State)
	end := at // 0: not known
	if k.snaps != nil {
		snap, err := k.snaps.LoadSnapshot(ctx, id, at)
		switch {
		case err == nil:
			if head, err := harness.DecodeState(snap.State); err == nil {
				st, kept, end = head, snap.Seq, cmp.Or(at, snap.End)
			} else { // the log has it all, too
				k.log.Error("snapshot cannot be read, folding the whole log", "session", id, "seq", snap.Seq, "err", err)
			}
		case harness.AsError(err) != harness.ErrNotFound:
			return nil, 0, err
		}
	}
	counted := st.Seq == 0 || st.Bytes > 0
	var diagnosis *health.Fold // nil: what is kept with the head is right
	if st.Seq > 0 && !health.Kept(st) {
		if diagnosis, err = k.examine(ctx, id, st.Seq); err != nil {
			return nil, 0, err
		}
	}
	rest := func(func(harness.Event, error) bool) {}
	if st.Seq == 0 || st.Seq != end {
		rest = k.store.Read(ctx, id, st.Seq)
	}
	for e, err := range rest {
		if err != nil {
			return nil, 0, err
		}
		if at != 0 && e.Seq > at {
			break
		}
		if diagnosis == nil {
			diagnosis = healthOf(st)
		}
		st.Apply(e)
		diagnosis.Apply(e)
	}
	if diagnosis != nil {
		st.SetAside(diagnosis)
	}
	switch {
	case st.Seq == 0:
		return nil, 0, harness.ErrNotFound
	case at != 0 && st.Seq != at:
		return nil, 0, fmt.Errorf("the log ends at %d, before %d: %w", st.Seq, at, harness.ErrInvalid)
	}
	if !counted {
		st.Bytes, err = k.sizeOf(ctx, id, st)
	}
	return st, kept, err
}
