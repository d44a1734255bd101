package rpc

import (
	"context"
	"slices"
)

// exchange is one line of the client and its answer. The threads that it
// touches tell nothing until the answer is on its way, so that whatever a
// request causes comes after its answer.
type exchange struct {
	held []*follower
}

// hold closes the gate of a thread until the exchange is over. It fails only
// if ctx is done.
func (x *exchange) hold(ctx context.Context, f *follower) error {
	if slices.Contains(x.held, f) {
		return nil
	}
	if !f.enter(ctx) {
		return context.Cause(ctx)
	}
	x.held = append(x.held, f)
	return nil
}

// release opens the gates again.
func (x *exchange) release() {
	for _, f := range x.held {
		f.exit()
	}
}
