package egress

import (
	"context"
	"sync"
)

// maxOpen bounds what one token has open at a time: more than any agent with
// its helpers, less than what hurts.
const maxOpen = 32

// verdict is what a budget says to a request.
type verdict int

const (
	granted  verdict = iota
	later            // when something that is open has ended
	spent            // never
	tooMany          // open at a time
	numbered         // never: so many requests were sent on
)

// budget admits requests. The rule: a request is let in while what was used and
// what those that are open may still use is below the bound. So only the one
// that crosses it can pass it.
type budget struct {
	maxTokens, maxRequests int64

	mu       sync.Mutex // guards what follows
	used     int64
	reserved int64
	requests int64
	open     int // let in and not ended
	waiting  int
	changed  chan struct{} // closed when a request has ended
}

func newBudget(tokens, requests int64) *budget {
	return &budget{maxTokens: tokens, maxRequests: requests, changed: make(chan struct{})}
}

// judge decides and, if it grants, counts. It is called with mu held.
func (b *budget) judge(most int64) verdict {
	switch {
	case b.maxRequests > 0 && b.requests >= b.maxRequests:
		return numbered
	case b.maxTokens > 0 && b.used >= b.maxTokens:
		return spent
	case b.open+b.waiting >= maxOpen:
		return tooMany
	case b.maxTokens > 0 && most > 0 && b.used+b.reserved >= b.maxTokens:
		return later
	}
	b.requests++
	b.open++
	b.reserved += most
	return granted
}

// admit lets a request in that uses most tokens at most, or says why not. It
// waits while that depends on requests that are open.
func (b *budget) admit(ctx context.Context, most int64) (verdict, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		v := b.judge(most)
		if v != later {
			return v, nil
		}
		changed := b.changed
		b.waiting++
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		b.mu.Lock()
		b.waiting--
		if ctx.Err() != nil {
			return later, context.Cause(ctx)
		}
	}
}

// enter is admit, with the refusal that the client is told.
func (b *budget) enter(ctx context.Context, most int64) error {
	switch v, err := b.admit(ctx, most); {
	case err != nil:
		return ended(ctx, err)
	case v == spent:
		return refuseSpent
	case v == numbered:
		return refuseNumbered
	case v == tooMany:
		return refuseMany
	}
	return nil
}

// settle ends a request that was let in with most and used so many.
func (b *budget) settle(most, used int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open--
	b.reserved -= most
	b.used += used
	close(b.changed)
	b.changed = make(chan struct{})
}
