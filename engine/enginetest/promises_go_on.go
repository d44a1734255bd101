package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"harness"
)

// maxCheckpoints bounds after how many checkpoints the suite interrupts.
const maxCheckpoints = 16

func resumes(c *check) {
	e := c.open(c)
	if !e.Abilities().Resume || !e.Abilities().Tools {
		c.Skip("the engine does not resume, or does not report what could be repeated")
	}
	c.need("Resume", c.s.Resume)
	whole := NewHost("ses_whole")
	if err := c.complete(e, whole, c.s.Resume); err != nil {
		c.Fatalf("%q: Run returned %v", c.s.Resume, err)
	}
	want := calls(whole)
	for n := 1; n <= maxCheckpoints; n++ {
		h, interrupted := c.interrupted(n)
		if !interrupted {
			return
		}
		a := c.start(c.open(c), h, h.Again())
		if !a.within(c.s.Bound) {
			c.Fatalf("%q: the attempt after checkpoint %d did not end within %s", c.s.Resume, n, c.s.Bound)
		}
		if a.err != nil {
			c.Errorf("%q: the attempt after checkpoint %d: Run returned %v", c.s.Resume, n, a.err)
		}
		if got := calls(h); !slices.Equal(got, want) {
			c.Errorf("%q interrupted after checkpoint %d: calls of both attempts\n%q\nwant those of one that was not interrupted\n%q", c.s.Resume, n, got, want)
		}
		for _, complaint := range h.Complaints() {
			c.Errorf("%q: the attempt after checkpoint %d: %s", c.s.Resume, n, complaint)
		}
	}
}

// interrupted runs the situation Resume until its nth checkpoint is durable,
// and reports whether it got there.
func (c *check) interrupted(n int) (*Host, bool) {
	h := NewHost("ses_resume")
	seen := 0
	reached := make(chan struct{})
	var running atomic.Pointer[attempt]
	ready := make(chan struct{})
	h.After = func(what string) {
		if !strings.HasPrefix(what, "checkpoint ") {
			return
		}
		if seen++; seen == n {
			<-ready
			running.Load().cancel(errStop)
			close(reached)
		}
	}
	a := c.start(c.open(c), h, h.Begin(c.s.Resume))
	running.Store(a)
	close(ready)
	if !a.within(c.s.Bound) {
		c.Fatalf("%q interrupted after checkpoint %d: Run did not return within %s", c.s.Resume, n, c.s.Bound)
	}
	h.After = nil
	select {
	case <-reached:
		return h, true
	default:
		return h, false
	}
}

// calls lists what was called with what, in some fixed order, calls that were
// announced and never begun left out.
func calls(h *Host) (list []string) {
	for _, e := range h.Events() {
		if p, ok := e.Payload.(*harness.ToolCall); ok && outcome(h, p.ToolCallID) != harness.OutcomeError {
			list = append(list, fmt.Sprintf("%s %s", p.Name, p.Arguments))
		}
	}
	slices.Sort(list)
	return list
}

func hearsSteering(c *check) {
	e := c.open(c)
	h := NewHost("ses_steer")
	prompt := c.s.Say
	if e.Abilities().Steer {
		c.need("Steer", c.s.Steer)
		prompt = c.s.Steer
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), c.s.Bound, errStop)
	defer cancel()
	a := c.start(e, h, h.Begin(prompt))
	said := make(chan struct{})
	told := &attempt{done: said}
	told.run(ctx, func(ctx context.Context) error { return h.Steer(ctx, "a word") })
	ended := a.within(c.s.Bound + time.Second)
	cancel()
	<-said
	switch {
	case !e.Abilities().Steer && told.err == nil:
		c.Errorf("%q: the engine took what was said to the turn without the ability Steer", prompt)
	case e.Abilities().Steer && told.err != nil:
		c.Errorf("%q: the engine did not take what was said to the turn", prompt)
	case !ended:
		c.Errorf("%q: the turn did not end within %s of being told something", prompt, c.s.Bound)
	case a.err != nil:
		c.Errorf("%q: Run returned %v", prompt, a.err)
	}
}
