package talk

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	words, err := steered(ctx, t, h)
	if err != nil {
		return err
	}
	all := slices.Concat(t.Parts, words)
	afresh := func() error {
		past, err := Past(ctx, t, h)
		if err != nil {
			return err
		}
		return play(Goal{Parts: all, Before: past})
	}
	switch {
	case t.Fresh && !was.Begun(t):
		return play(Goal{Parts: all})
	case was.Thread == "":
		return afresh()
	case was.Begun(t):
		g := Goal{Thread: was.Thread, Before: Onward, Parts: words}
		if len(words) > 0 {
			g.Before += alsoSaid
		}
		err = play(g)
	case was.Session == t.Session:
		err = play(Goal{Thread: was.Thread, Parts: all})
	case was.Done:
		err = play(Goal{Thread: was.Thread, From: was.Session, At: was.At, Parts: all})
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

// alsoSaid introduces what people said to attempts that failed.
const alsoSaid = " Meanwhile this was said, which you may not have heard:\n\n"

// steered is what people said to earlier attempts at the turn: nobody knows
// whether the program took it in before it ended, so it is said again. What is to
// be a prompt of its own is not.
func steered(ctx context.Context, t harness.Turn, h harness.Host) ([]harness.Part, error) {
	if t.Attempt <= 1 {
		return nil, nil
	}
	var said, words []harness.Word
	for e, err := range h.History(ctx, t.Began) {
		if err != nil {
			return nil, fmt.Errorf("read what was said to the turn: %w", err)
		}
		switch p := e.Payload.(type) {
		case *harness.TurnStart: // what comes later, the attempt hears by itself
			said, words = append(said, words...), nil
		case *harness.UserMessage:
			if p.Source == harness.FromSteer && e.Turn == t.ID {
				words = append(words, harness.Word{Item: p.ItemID, Parts: p.Parts})
				continue
			}
			again := func(w harness.Word) bool { return w.Item == p.ItemID }
			said, words = slices.DeleteFunc(said, again), slices.DeleteFunc(words, again)
		}
	}
	return harness.Spoken(said), nil
}
