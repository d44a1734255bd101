package model

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// RetryOptions bound what Retry does. The zero value of each is its default.
type RetryOptions struct {
	Attempts int           // in all; 3
	Base     time.Duration // the first wait, doubled each time and shortened by chance to at least its half; 500 ms
	Max      time.Duration // the longest such wait; 8 s
	// Patience is the longest wait a server may ask for; one minute. If it asks
	// for more, there is no sense in asking again sooner: the fault is returned
	// at once and says for how long.
	Patience time.Duration
}

// Retry asks c again after a transient fault, but only as long as nothing of
// the answer was shown. Each new attempt is announced by a ChunkNote.
func Retry(c Client, opts *RetryOptions) Client {
	r := &retry{client: c}
	if opts != nil {
		r.RetryOptions = *opts
	}
	r.Attempts = cmp.Or(r.Attempts, 3)
	r.Base = cmp.Or(r.Base, 500*time.Millisecond)
	r.Max = cmp.Or(r.Max, 8*time.Second)
	r.Patience = cmp.Or(r.Patience, time.Minute)
	return r
}

type retry struct {
	RetryOptions
	client Client
}

func (r *retry) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for attempt := 1; ; attempt++ {
			shown, err := relay(r.client.Stream(ctx, req), yield)
			if err == nil {
				return
			}
			e, known := errors.AsType[*Error](err)
			wait := r.wait(e, attempt)
			if shown || !known || !e.Transient() || attempt >= r.Attempts || wait > r.Patience {
				yield(Chunk{}, err)
				return
			}
			note := &Note{Status: "degraded", Kind: NoteRetry, Requested: e.Provider, Actual: e.Provider, Reason: err.Error(), Failures: attempt}
			if !yield(Chunk{Kind: ChunkNote, Note: note}, nil) {
				return
			}
			if err := sleep(ctx, wait); err != nil {
				yield(Chunk{}, err)
				return
			}
		}
	}
}

func (r *retry) wait(e *Error, attempt int) time.Duration {
	if e != nil && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	d := min(r.Base<<(attempt-1), r.Max)
	return d/2 + rand.N(d/2+1)
}

// relay hands over a stream. What nobody sees is held back until something is
// shown, so that a stream that fails before leaves no trace but its notes. It
// returns a nil error if the stream is done or the reader has left.
func relay(stream iter.Seq2[Chunk, error], yield func(Chunk, error) bool) (shown bool, failed error) {
	var held []Chunk
	for c, err := range stream {
		switch {
		case err != nil:
			return shown, err
		case c.Kind == ChunkNote:
		case !shown && !c.Shown():
			held = append(held, c)
			continue
		case !shown:
			shown = true
			for _, h := range held {
				if !yield(h, nil) {
					return true, nil
				}
			}
		}
		if !yield(c, nil) {
			return true, nil
		}
	}
	return shown, nil
}

// sleep returns nil after d, or the cause of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
