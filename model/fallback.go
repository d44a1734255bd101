package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"
)

// Route is one way to an answer.
type Route struct {
	Name   string // as people know the provider
	Client Client
	Model  string // to ask for on this route; empty is the request's own
}

const (
	// restAfter failures in a row a route is left alone for a while.
	restAfter = 3
	restFor   = 30 * time.Second
	// restAtMost bounds how long a server's Retry-After keeps its route unused.
	restAtMost = 10 * time.Minute
)

// Fallback asks the routes in order until one answers. It goes on after a
// transient fault only, and never once something was shown: then the fault is
// the reader's. Every step aside is announced by a ChunkNote. A route that
// failed three times in a row, or asked to wait, is passed over for a while,
// unless no other is left.
func Fallback(routes ...Route) Client {
	if len(routes) == 0 {
		panic("model.Fallback without routes")
	}
	return &fallback{routes: routes, health: make([]rest, len(routes))}
}

type fallback struct {
	routes []Route

	mu     sync.Mutex // guards health
	health []rest
}

type rest struct {
	failures int
	until    time.Time
}

func (f *fallback) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		reason, failures := "", 0
		order := f.order(time.Now())
		if order[0] != 0 {
			reason, failures = "passed over after its last failures", f.failures(0)
		}
		for n, i := range order {
			route := &f.routes[i]
			if reason != "" && i != 0 {
				note := &Note{Status: "degraded", Kind: NoteFallback, Requested: f.routes[0].Name, Actual: route.Name, Reason: reason, Failures: failures}
				if !yield(Chunk{Kind: ChunkNote, Note: note}, nil) {
					return
				}
			}
			ask := *req
			if route.Model != "" {
				ask.Model = route.Model
			}
			shown, err := relay(route.Client.Stream(ctx, &ask), yield)
			if err == nil {
				f.succeeded(i)
				return
			}
			e, known := errors.AsType[*Error](err)
			if known && e.Transient() {
				failures = f.failed(i, e, time.Now())
			}
			if shown || !known || !e.Transient() || n == len(order)-1 {
				yield(Chunk{}, err)
				return
			}
			reason = fmt.Sprintf("%s: %v", route.Name, err)
		}
	}
}

// order is the routes to try: those that may be asked now, or else all.
func (f *fallback) order(now time.Time) (order []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var resting []int
	for i := range f.routes {
		if now.Before(f.health[i].until) {
			resting = append(resting, i)
		} else {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return resting
	}
	return order
}

func (f *fallback) failures(i int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.health[i].failures
}

func (f *fallback) succeeded(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.health[i] = rest{}
}

func (f *fallback) failed(i int, e *Error, now time.Time) (failures int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := &f.health[i]
	h.failures++
	switch {
	case e.RetryAfter > 0:
		h.until = now.Add(min(e.RetryAfter, restAtMost))
	case h.failures >= restAfter:
		h.until = now.Add(restFor)
	}
	return h.failures
}
