package enginetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"

	"harness"
)

// errStop is the cause with which the suite cancels.
var errStop = errors.New("enginetest: told to stop")

// attempt is a Run on its way.
type attempt struct {
	label  string
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when Run has returned
	err    error         // Run's result, once done
}

// start runs an attempt. Everything that the engine starts carries a profiler
// label, by which it can be found again.
func (c *check) start(e harness.Engine, h *Host, t harness.Turn) *attempt {
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &attempt{label: rand.Text(), cancel: cancel, done: make(chan struct{})}
	c.Cleanup(func() { cancel(errStop) })
	return a.run(ctx, func(ctx context.Context) error { return e.Run(ctx, t, h) })
}

func (a *attempt) run(ctx context.Context, f func(context.Context) error) *attempt {
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(a.done)
		pprof.Do(ctx, pprof.Labels("enginetest", a.label), func(ctx context.Context) { a.err = f(ctx) })
	})
	return a
}

// within reports whether the attempt returned in time.
func (a *attempt) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-a.done:
		return true
	case <-t.C:
		return false
	}
}

// complete runs a turn that should end by itself, and ends the test if it
// does not end at all.
func (c *check) complete(e harness.Engine, h *Host, prompt string) error {
	c.Helper()
	a := c.start(e, h, h.Begin(prompt))
	if !a.within(c.s.Bound) {
		c.Fatalf("the turn %q did not end within %s", prompt, c.s.Bound)
	}
	return a.err
}

// left is the stacks of the goroutines that the attempt started and that are
// still there a while after it returned. A goroutine that has done its work may
// take a moment to vanish.
func (a *attempt) left(patience time.Duration) string {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(patience / 100)
	defer tick.Stop()
	for {
		found := labelled(a.label)
		if found == "" {
			return ""
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return found
		}
	}
}

// labelled finds the goroutines with a label in the goroutine profile.
func labelled(label string) string {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return fmt.Sprintf("goroutine profile: %v", err)
	}
	var found []string
	for stack := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(stack, strconv.Quote(label)) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}
