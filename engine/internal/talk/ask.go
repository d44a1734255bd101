package talk

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"harness"
)

// question is a call that the session is asked about.
type question struct {
	use    harness.ToolUse
	cancel context.CancelFunc
}

// Go runs work beside the conversation, and what it returns in it. The work's
// context ends with the conversation; then nothing comes of it.
func (t *Talk) Go(work func(context.Context) func(context.Context) error) {
	t.busy++
	t.work.Go(func() {
		then := work(t.ctx)
		t.hand(func(ctx context.Context) error {
			t.busy--
			return then(ctx)
		})
	})
}

func (t *Talk) hand(f func(context.Context) error) {
	select {
	case t.back <- f:
	case <-t.ctx.Done():
	}
}

// slow is how long an answer may take before the question is remembered for
// another attempt. Policy is faster, people are not.
const slow = time.Second

// Ask asks the session about a call. then hears the decision, unless the
// question was retracted.
func (t *Talk) Ask(id json.RawMessage, use harness.ToolUse, then func(context.Context, harness.Decision) error) {
	one, cancel := context.WithCancel(t.ctx)
	q := &question{use, cancel}
	t.asks[string(id)] = q
	t.Go(func(context.Context) func(context.Context) error {
		defer cancel()
		d := t.wait(one, use)
		return func(ctx context.Context) error {
			if t.asks[string(id)] != q {
				return nil // the program does not want to know any more
			}
			delete(t.asks, string(id))
			return then(ctx, d)
		}
	})
}

// wait asks and says when that takes its time.
func (t *Talk) wait(ctx context.Context, use harness.ToolUse) harness.Decision {
	got := make(chan harness.Decision, 1) // so that nobody is left with it
	t.work.Go(func() {
		d, err := t.Host.Ask(ctx, use)
		switch {
		case err != nil:
			d = harness.Decision{Verdict: harness.Deny, Reason: "nobody could be asked: " + err.Error()}
		case d.Digest != "" && d.Digest != harness.Digest(use.Input):
			d = harness.Decision{Verdict: harness.Deny, Reason: "what was allowed was another call"}
		}
		got <- d
	})
	timer := time.NewTimer(slow)
	defer timer.Stop()
	select {
	case d := <-got:
		return d
	case <-timer.C:
	}
	if t.Slow != nil {
		t.hand(t.Slow)
	}
	return <-got
}

// Retract forgets a question. It reports whether it was open.
func (t *Talk) Retract(id json.RawMessage) bool {
	q := t.asks[string(id)]
	if q == nil {
		return false
	}
	q.cancel()
	delete(t.asks, string(id))
	return true
}

// Unanswered are the requests of the program that wait for an answer.
func (t *Talk) Unanswered() (all []*Message) {
	for _, m := range t.owed {
		all = append(all, m)
	}
	return all
}

// Asked are the calls about which somebody is being asked.
func (t *Talk) Asked() (all []Asked) {
	for _, q := range t.asks {
		all = append(all, Asked{q.use.Call, q.use.Tool, harness.Digest(q.use.Input)})
	}
	slices.SortFunc(all, func(a, b Asked) int { return cmp.Compare(a.Call, b.Call) })
	return all
}
