package custody

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"harness"
)

// Reconcile compares the book with the machine. Entries of processes that are
// gone are forgotten; a living one that keep does not claim is killed, runners
// before agents, because an agent dies with its runner. It returns what was
// killed when that is gone.
func (b *Book) Reconcile(ctx context.Context, keep func(Entry) bool) (killed []Entry, err error) {
	all, err := b.entries("")
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y Entry) int {
		switch {
		case x.Role == y.Role:
			return 0
		case x.Role == Runner:
			return -1
		}
		return 1
	})
	for _, e := range all {
		switch {
		case !e.Alive():
		case keep(e):
			continue
		default:
			if dead := Kill(ctx, e); dead != nil {
				err = errors.Join(err, dead)
				continue
			}
			killed = append(killed, e)
		}
		err = errors.Join(err, b.Forget(e))
	}
	return killed, err
}

// killPatience is how long the system may take to end a killed process: one
// that waits for a disk cannot be ended before.
const killPatience = 5 * time.Second

// Kill ends the process of an entry, and no other that has its number, and
// returns when it is gone.
func Kill(ctx context.Context, e Entry) error {
	ctx, cancel := context.WithTimeout(ctx, killPatience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for e.Alive() {
		if err := kill(e.ProcessRef); err != nil {
			return fmt.Errorf("kill process %d: %w", e.PID, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("kill process %d: %w", e.PID, context.Cause(ctx))
		}
	}
	return nil
}

// Terminate asks the process of an entry to end, and no other.
func Terminate(e Entry) error {
	if !e.Alive() {
		return nil
	}
	if err := terminate(e.ProcessRef); err != nil {
		return fmt.Errorf("terminate process %d: %w", e.PID, err)
	}
	return nil
}

// Before is a hook for [harness.Process]: the process runs when it is in the
// book, or never.
func (b *Book) Before(session harness.SessionID, turn harness.TurnID) func(harness.ProcessRef) error {
	return func(ref harness.ProcessRef) error {
		_, err := b.Record(Entry{Session: session, Turn: turn, Role: Agent, ProcessRef: ref})
		return err
	}
}
