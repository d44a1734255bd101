package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"harness"
	"harness/engine/internal/program"
	"harness/engine/internal/talk"
)

// mark records which conversation of the program the session has.
func (r *run) mark(ctx context.Context) error {
	r.marked = true
	at := talk.Ref{Engine: "claude", Session: r.turn.Session, Thread: r.proc.id, Turn: r.turn.ID}
	for _, a := range r.asks {
		at.Asked = append(at.Asked, talk.Asked{Call: a.use.Call, Tool: a.use.Tool, Digest: harness.Digest(a.use.Input)})
	}
	r.open = len(at.Asked) > 0
	slices.SortFunc(at.Asked, func(a, b talk.Asked) int { return cmp.Compare(a.Call, b.Call) })
	return r.host.Checkpoint(ctx, at.String())
}

// result is the end of one of the program's turns, which is ours unless it has
// been told more than it has finished with.
func (r *run) result(ctx context.Context, m *result) (over bool, err error) {
	if r.proc.resume != "" && !r.warm && !r.heard && m.lost() {
		return true, &talk.Lost{Why: m.words()}
	}
	if m.Origin != nil {
		return false, nil
	}
	r.settle(m)
	err = m.judge()
	if err == nil && len(r.pending) > 0 {
		return false, nil
	}
	r.clean = len(r.pending) == 0
	facts := append(r.tr.abandoned(), r.tr.finished(m, r.paid)...)
	if text := r.tr.speech.String(); err == nil && text != "" && !r.steered {
		facts = append(facts, &harness.Response{Text: text, StopReason: m.StopReason})
	}
	if err == nil {
		facts = append(facts, &harness.Completed{Result: cmp.Or(m.Result, r.tr.speech.String())})
	}
	if e := r.emit(ctx, append(facts, r.tr.strange.Diagnostic()...)); e != nil {
		return true, e
	}
	if err == nil {
		done := talk.Ref{Engine: "claude", Session: r.turn.Session, Thread: r.proc.id, Turn: r.turn.ID, Done: true, At: r.tr.lastSpoken}
		return true, r.host.Checkpoint(ctx, done.String())
	}
	if !r.marked && r.clean {
		return true, errors.Join(err, r.mark(ctx))
	}
	return true, err
}

// settle takes from a result what concerns the process.
func (r *run) settle(m *result) {
	r.proc.id = m.Session
	r.paid += max(0, m.CostUSD-r.proc.cost)
	r.proc.cost = m.CostUSD
	done := m.UserMessages
	if done == nil { // a version that does not say: what it has repeated, or else what it was told first
		done = r.repeated
		if len(done) == 0 && len(r.pending) > 0 {
			done = []string{r.pending[0]}
		}
	}
	r.forget(done)
	r.repeated = nil
}

// forget takes messages out of what the program has not finished with.
func (r *run) forget(ids []string) {
	r.pending = slices.DeleteFunc(r.pending, func(id string) bool { return slices.Contains(ids, id) })
}

// reached is nil, or why the program could not be told something.
func (r *run) reached(err error) error {
	if err == nil {
		return nil
	}
	return r.failed(err)
}

// failed is why a process cannot be talked to. If it is ending, its end is the
// better reason.
func (r *run) failed(err error) error {
	if err != nil {
		t := time.NewTimer(program.Farewell)
		defer t.Stop()
	drain:
		for {
			select {
			case <-r.ear.Lines: // it goes on printing
			case <-r.proc.Dead:
				break drain
			case <-t.C:
				return fmt.Errorf("%w: %w", err, harness.ErrRetry)
			}
		}
	}
	if r.warm && !r.heard {
		return talk.ErrStale
	}
	return fmt.Errorf("%s before the turn was over: %w", r.proc.Fate(), harness.ErrRetry)
}
