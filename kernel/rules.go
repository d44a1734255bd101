package kernel

import (
	"context"
	"fmt"
	"iter"

	"harness"
)

// Rules yields the standing rules of a directory, oldest first; "" is every
// directory. Where the store keeps none, there are none.
func (k *Kernel) Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error] {
	return func(yield func(harness.Rule, error) bool) {
		if k.book == nil {
			return
		}
		if err := k.learn(ctx); err != nil {
			yield(harness.Rule{}, err)
			return
		}
		for _, r := range k.book.all(directory) {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Revoke ends a standing rule, or returns ErrNotFound. When it returns, calls
// that the rule covered are asked about again, in every session and after a
// restart; what it has allowed stays allowed.
func (k *Kernel) Revoke(ctx context.Context, id harness.RuleID) error {
	if k.book == nil {
		return fmt.Errorf("rule %s: %w", id, harness.ErrNotFound)
	}
	return k.book.revoke(ctx, id)
}

// learn makes sure that the book is loaded. Rules that turn up late release what
// waits.
func (k *Kernel) learn(ctx context.Context) error {
	fresh, err := k.book.load(ctx)
	for _, directory := range fresh {
		k.release(ctx, directory)
	}
	return err
}

// standing tells a session of a directory which rules hold; nil if none can. A
// store whose rules cannot be read has none: then people are asked once more.
func (k *Kernel) standing(ctx context.Context, directory string) func([]harness.Rule) []harness.Rule {
	if k.book == nil || directory == "" {
		return nil
	}
	if err := k.learn(ctx); err != nil {
		k.log.Error("rules not loaded, asking instead", "directory", directory, "err", err)
		return nil
	}
	return func(made []harness.Rule) []harness.Rule { return k.book.of(directory, made) }
}

// stand makes a rule hold in every session of its directory.
func (k *Kernel) stand(ctx context.Context, e stand) {
	if e.err != nil {
		k.book.doubt()
	} else if k.book.add(e.rule) {
		k.release(ctx, e.rule.Directory)
	}
}

// release lets the sessions of a directory look at the rules again: those that
// are awake now, those that sleep while they wait for an answer as soon as they
// are loaded. One that is just going to sleep wakes again: see session.run.
func (k *Kernel) release(ctx context.Context, directory string) {
	ctx = context.WithoutCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	for _, s := range k.awake {
		s.ring(directory)
	}
	k.wg.Go(func() {
		for sum, err := range k.store.List(ctx, harness.Filter{Statuses: []harness.Status{harness.AwaitingApproval}}) {
			if err == nil && sum.Directory == directory {
				_, err = k.wake(ctx, sum.Session)
			}
			switch {
			case k.isClosed():
				return
			case k.elsewhere(err): // whoever runs it is told, too
			case err != nil:
				k.log.Error("session not released", "session", sum.Session, "err", err)
			}
		}
	})
}

// ring makes an awake session look at the rules, if it may be of the directory.
func (s *session) ring(directory string) {
	select {
	case <-s.loaded:
		if s.err != nil || s.origin.Directory != directory {
			return
		}
	default:
	}
	select {
	case s.rung <- struct{}{}:
	default:
	}
}
