package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"harness"
)

func returnsNil(c *check) {
	h := NewHost("ses_say")
	if err := c.complete(c.open(c), h, c.s.Say); err != nil {
		c.Fatalf("%q: Run returned %v, want nil", c.s.Say, err)
	}
	if text(h) == "" {
		c.Errorf("%q: the turn completed without a word", c.s.Say)
	}
}

// text is what the assistant said.
func text(h *Host) string {
	var b strings.Builder
	for _, m := range h.State().Messages {
		if m.Role == harness.Assistant {
			b.WriteString(m.Content.String())
		}
	}
	return b.String()
}

func returnsError(c *check) {
	err := c.complete(c.open(c), NewHost("ses_fail"), c.s.Fail)
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, harness.ErrRetry) {
		c.Errorf("%q: Run returned %v, want an error that is final and not about a context", c.s.Fail, err)
	}
	if c.s.Retry == "" {
		return
	}
	if err := c.complete(c.open(c), NewHost("ses_retry"), c.s.Retry); !errors.Is(err, harness.ErrRetry) {
		c.Errorf("%q: Run returned %v, want an error that wraps ErrRetry", c.s.Retry, err)
	}
}

// maxSteps bounds at how many steps of one situation the suite cancels.
const maxSteps = 64

func stopsAtAnyStep(c *check) {
	e := c.open(c)
	for _, prompt := range []string{c.s.Say, c.s.Think, c.s.Tool, c.s.Ask, c.s.Resume} {
		for n := 0; prompt != "" && n < maxSteps && c.stopAt(e, prompt, n); n++ {
		}
	}
	c.stopAt(e, c.s.Long, 0)
	c.stopAt(e, c.s.Long, 1)
	c.stopQuiet(e)
}

// stopAt cancels a turn as it calls its host for the nth time; before it runs
// if n is 0. It reports whether the turn got that far.
func (c *check) stopAt(e harness.Engine, prompt string, n int) bool {
	h := NewHost("ses_stop")
	var calls atomic.Int64
	stop := make(chan struct{})
	release := make(chan struct{})
	h.Before = func(context.Context, string) {
		if calls.Add(1) == int64(n) {
			close(stop)
			<-release
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(errStop)
	if n == 0 {
		cancel(errStop)
	}
	a := &attempt{done: make(chan struct{})}
	turn := h.Begin(prompt)
	a.run(ctx, func(ctx context.Context) error { return e.Run(ctx, turn, h) })
	if n > 0 {
		timer := time.NewTimer(c.s.Bound)
		defer timer.Stop()
		select {
		case <-stop:
			cancel(errStop)
			close(release)
		case <-a.done:
			return false
		case <-timer.C:
			c.Fatalf("%q: neither step %d nor an end within %s", prompt, n, c.s.Bound)
		}
	}
	c.stopped(a, fmt.Sprintf("%q cancelled at step %d", prompt, n))
	return true
}

// stopQuiet cancels a turn while it is busy with itself.
func (c *check) stopQuiet(e harness.Engine) {
	h := NewHost("ses_quiet")
	begun := make(chan struct{}, 1)
	h.After = func(string) {
		select {
		case begun <- struct{}{}:
		default:
		}
	}
	a := c.start(e, h, h.Begin(c.s.Long))
	timer := time.NewTimer(c.s.Bound)
	defer timer.Stop()
	select {
	case <-begun:
	case <-a.done:
		c.Fatalf("%q: Run returned %v by itself", c.s.Long, a.err)
	case <-timer.C:
		c.Fatalf("%q: no call of the host within %s", c.s.Long, c.s.Bound)
	}
	a.cancel(errStop)
	c.stopped(a, fmt.Sprintf("%q cancelled while it was busy", c.s.Long))
}

func (c *check) stopped(a *attempt, what string) {
	c.Helper()
	if !a.within(c.s.Bound) {
		c.Fatalf("%s: Run did not return within %s", what, c.s.Bound)
	}
	if !errors.Is(a.err, errStop) {
		c.Errorf("%s: Run returned %v, want the context's cause", what, a.err)
	}
}

func leavesNothing(c *check) {
	e := c.open(c)
	h := NewHost("ses_left")
	a := c.start(e, h, h.Begin(c.s.Say))
	if a.within(c.s.Bound) {
		c.nothingLeft(a, c.s.Say)
	}
	h = NewHost("ses_left")
	var begun atomic.Pointer[attempt]
	ready := make(chan struct{})
	h.After = func(string) {
		<-ready
		begun.Load().cancel(errStop)
	}
	a = c.start(e, h, h.Begin(c.s.Long))
	begun.Store(a)
	close(ready)
	if a.within(c.s.Bound) { // if not, StopsWithTheCauseAtAnyStep says so
		c.nothingLeft(a, c.s.Long)
	}
}

func (c *check) nothingLeft(a *attempt, prompt string) {
	c.Helper()
	if stacks := a.left(min(c.s.Bound, time.Second)); stacks != "" {
		c.Errorf("%q: goroutines are left after Run returned:\n%s", prompt, stacks)
	}
	if c.s.Left == nil {
		return
	}
	if left := c.s.Left(); len(left) > 0 {
		c.Errorf("%q: left after Run returned: %q", prompt, left)
	}
}

// slowness is how long a session that is behind makes an engine wait.
const slowness = 200 * time.Millisecond

func toleratesBlocking(c *check) {
	h := NewHost("ses_slow")
	var calls atomic.Int64
	h.Before = func(ctx context.Context, _ string) {
		if calls.Add(1) > 3 {
			return
		}
		t := time.NewTimer(slowness)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	if err := c.complete(c.open(c), h, c.s.Say); err != nil {
		c.Errorf("%q: Run returned %v while its session was slow, want nil", c.s.Say, err)
	}
}

// crowd is how many turns run at once.
const crowd = 8

func runsManyAtOnce(c *check) {
	e := c.open(c)
	var running []*attempt
	for i := range crowd {
		h := NewHost(harness.SessionID(fmt.Sprintf("ses_%d", i)))
		running = append(running, c.start(e, h, h.Begin(c.s.Say)))
	}
	for i, a := range running {
		if !a.within(c.s.Bound) {
			c.Fatalf("%q: turn %d of %d did not end within %s", c.s.Say, i, crowd, c.s.Bound)
		}
		if a.err != nil {
			c.Errorf("%q: turn %d of %d at once: Run returned %v", c.s.Say, i, crowd, a.err)
		}
	}
}
