package notify

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"harness"
)

// Test is the kind of a notice that somebody has asked for, to see whether it
// arrives. No hook can want it.
const Test Kind = "test"

// Try tells one hook a notice of no session, once, and returns what came of it:
// nil if the receiver took it, else an error for people, as a
// [Failure] has it. What waits for the hook is not touched, and
// nothing of it is counted or kept. It returns [harness.ErrNotFound] if there is
// no such hook.
func (n *Notifier) Try(ctx context.Context, name string) error {
	n.mu.Lock()
	at := slices.IndexFunc(n.lines, func(l *line) bool { return l.hook.Name == name })
	if at < 0 {
		n.mu.Unlock()
		return harness.ErrNotFound.Saying("no hook " + name)
	}
	deliver := n.lines[at].deliver
	n.mu.Unlock()
	var entropy [10]byte
	rand.Read(entropy[:]) // it never fails
	now := time.Now().UTC()
	ctx, cancel := context.WithTimeout(ctx, deliverFor)
	defer cancel()
	err := deliver(ctx, item{
		notice: Notice{ID: harness.MintID("test_", now, entropy), Kind: Test, Time: now},
		about:  harness.Summary{Title: "A test of the hook " + name},
	})
	if err != nil {
		return errors.New(why(err))
	}
	return nil
}
