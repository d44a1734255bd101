package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"harness"
)

// retirement is what processes claim that retire sessions, so that one of them
// does. No session has such a name.
const retirement harness.SessionID = ".retirement"

// retirePage bounds how many rows are looked at before their sessions are
// removed.
const retirePage = 100

// errYoung says that a session was used after all.
var errYoung = fmt.Errorf("used meanwhile: %w", harness.ErrBusy)

// Retire removes the sessions that have ended or are idle and that nothing has
// happened in since before, one after the other, and calls told with each. One
// that others branch off stays for as long as they do; one that waits for
// somebody stays. Of several processes on a store one does it at a time; the
// others have nothing to do.
func (k *Kernel) Retire(ctx context.Context, before time.Time, told func(harness.SessionID)) error {
	release, err := k.claim(ctx, retirement)
	defer release()
	if k.elsewhere(err) || errors.Is(err, harness.ErrUnavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	// Newest first: most branches are newer than what they branch off. What stays
	// because of one goes the next time.
	last := &harness.Summary{Updated: before}
	for last != nil && ctx.Err() == nil {
		if last, err = k.retireSome(ctx, last, before, told); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// retireSome looks at the rows behind last, and returns the last of them; nil if
// those were all.
func (k *Kernel) retireSome(ctx context.Context, last *harness.Summary, before time.Time, told func(harness.SessionID)) (*harness.Summary, error) {
	f := harness.Filter{Statuses: []harness.Status{harness.Idle, harness.StatusCompleted, harness.StatusFailed, harness.StatusCancelled}, Before: last, Limit: retirePage}
	var page []harness.Summary
	for sum, err := range k.store.List(ctx, f) {
		if err != nil {
			return nil, err
		}
		page = append(page, sum)
	}
	for _, sum := range page {
		if k.peek(sum.Session) != nil { // somebody wants it now
			continue
		}
		err := k.removeIf(ctx, sum.Session, func(now harness.Summary) error {
			if !now.Updated.Before(before) {
				return errYoung
			}
			return nil
		})
		if err == nil {
			told(sum.Session)
			continue
		}
		switch harness.AsError(err) {
		case harness.ErrBusy, harness.ErrBranched, harness.ErrLocked, harness.ErrNotFound:
		default:
			return nil, fmt.Errorf("retire %s: %w", sum.Session, err)
		}
	}
	if len(page) < retirePage {
		return nil, nil
	}
	return &page[len(page)-1], nil
}
