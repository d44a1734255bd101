package talk

import (
	"context"
	"errors"

	"harness"
	"harness/engine/internal/program"
)

// Goal is where in a program's memory a turn is to go on, and what to say there.
type Goal struct {
	Thread string            // to go on with; "" for a new one
	From   harness.SessionID // whose thread it is, if not the session's own
	At     string            // the last place of it that counts, if it is another's
	Before string            // in front of the parts
	Parts  []harness.Part
}

// Play runs an attempt where the last one, or the last turn, stopped. once does
// it in the slot's process, or a new one. If it reports [Lost], it is called
// again for a new thread that is told the past; if [ErrStale], for a new process.
// An attempt that had completed is not made again.
func Play(ctx context.Context, t harness.Turn, h harness.Host, slot *program.Slot, was Ref, once func(context.Context, Goal) error) error {
	if was.Completed(t) {
		return nil
	}
	play := func(g Goal) error {
		err := once(ctx, g)
		if errors.Is(err, ErrStale) && ctx.Err() == nil {
			slot.Drop()
			err = once(ctx, g)
		}
		return err
	}
	afresh := func() error {
		past, err := Past(ctx, t, h)
		if err != nil {
			return err
		}
		return play(Goal{Parts: t.Parts, Before: past})
	}
	var err error
	switch {
	case t.Fresh && !was.Begun(t):
		return play(Goal{Parts: t.Parts})
	case was.Thread == "":
		return afresh()
	case was.Begun(t):
		err = play(Goal{Thread: was.Thread, Before: Onward})
	case was.Session == t.Session:
		err = play(Goal{Thread: was.Thread, Parts: t.Parts})
	case was.Done:
		err = play(Goal{Thread: was.Thread, From: was.Session, At: was.At, Parts: t.Parts})
	default:
		err = &Lost{"the session was branched off in the middle of a turn"}
	}
	if lost, ok := errors.AsType[*Lost](err); ok {
		slot.Drop()
		if err = h.Emit(ctx, lost.Diagnostic()); err == nil {
			err = afresh()
		}
	}
	return err
}
