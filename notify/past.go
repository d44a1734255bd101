package notify

import (
	"context"
	"time"

	"harness"
)

// past yields the notices since a time, from the logs. It reads the rows of
// sessions that changed since, and of each log only what is that new.
func past(ctx context.Context, k sessions, since time.Time, yield func(Notice, harness.Summary)) error {
	var changed []harness.Summary
	for sum, err := range k.List(ctx, harness.Filter{}) {
		if err != nil {
			return err
		}
		if sum.Updated.Before(since) {
			break // newest first
		}
		changed = append(changed, sum)
	}
	for _, sum := range changed {
		from, err := before(ctx, k, sum, since)
		if err != nil {
			return err
		}
		for e, err := range k.Read(ctx, sum.Session, from) {
			if err != nil {
				if harness.AsError(err) == harness.ErrNotFound { // removed meanwhile
					break
				}
				return err
			}
			if n, ok := Of(e); ok && n.Session == sum.Session && !n.Time.Before(since) { // a branch does not tell its parent's story
				yield(n, sum)
			}
		}
	}
	return nil
}

// before is the position before the first event that is not older than a time:
// a binary search, which reads one event a step.
func before(ctx context.Context, k sessions, sum harness.Summary, since time.Time) (harness.Seq, error) {
	low, high := harness.Seq(0), sum.Seq // the events at low and before are older
	for low < high {
		mid := low + (high-low)/2
		var at time.Time
		for e, err := range k.Read(ctx, sum.Session, mid) {
			if err != nil {
				if harness.AsError(err) == harness.ErrNotFound {
					return 0, nil
				}
				return 0, err
			}
			at = e.Time
			break
		}
		if at.Before(since) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, nil
}
