package claude

import (
	"context"
	"fmt"
	"time"

	"harness"
)

// hear listens until the turn is over.
func (r *run) hear(ctx, asks context.Context, ear *listener) error {
	limit := r.engine.opts.Silence
	silence := time.NewTimer(limit)
	defer silence.Stop()
	for {
		if ctx.Err() != nil {
			return r.interrupt(ctx, ear)
		}
		var err error
		over := false
		select {
		case <-ctx.Done():
		case l := <-ear.lines:
			over, err = r.line(ctx, asks, l)
			silence.Reset(limit)
		case words := <-r.host.Steering():
			r.steered = true
			err = r.reached(r.tell(content(harness.Spoken(words), "")))
		case a := <-r.answered:
			err = r.answer(ctx, asks, a)
			silence.Reset(limit)
		case <-r.waiting:
			err = r.mark(ctx)
		case <-r.proc.dead:
			return r.failed(nil)
		case <-silence.C:
			select {
			case l := <-ear.lines: // it is the session that was slow
				over, err = r.line(ctx, asks, l)
			default:
				if len(r.asks) == 0 {
					return fmt.Errorf("the program has said nothing for %s: %w", limit, harness.ErrRetry)
				}
			}
			silence.Reset(limit)
		}
		if over || err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// line is something that the program printed.
func (r *run) line(ctx, asks context.Context, l line) (over bool, err error) {
	if l.err != nil {
		return false, l.err
	}
	m, err := decode(l.b)
	if err != nil || m == nil {
		return false, err
	}
	if _, ok := m.(*response); !ok && r.warm {
		r.heard = true
	}
	switch m := m.(type) {
	case *request:
		return false, r.requested(ctx, asks, m)
	case *response:
		return false, r.responded(ctx, m)
	case *result:
		return r.result(ctx, m)
	case *notice:
		r.heard = true
		switch m.Subtype {
		case "init":
			r.proc.id = m.Session
			if r.proc.own == nil {
				r.proc.own, _ = tree(r.proc.pid)
			}
		case "background_tasks_changed":
			r.proc.tasks = len(m.Tasks)
		}
	case *streamed:
		if m.Parent == "" && !r.marked { // the model has answered: the conversation exists
			if err := r.mark(ctx); err != nil {
				return false, err
			}
		}
	case *spoken:
		r.proc.worked = r.proc.worked || m.Type == "user" && !m.Replay
		if err := r.reached(r.reconfigure()); err != nil {
			return false, err
		}
	}
	return false, r.emit(ctx, r.tr.take(m))
}

func (r *run) emit(ctx context.Context, all []harness.Payload) error {
	for _, p := range all {
		if err := r.host.Emit(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// reconfigure tells the program what changed while it works, as far as it can
// take it; the rest comes with the next turn.
func (r *run) reconfigure() error {
	now := r.host.Config()
	if now == r.config {
		return nil
	}
	to := liveOnly(r.proc.config, now)
	requests, _ := changes(r.proc.config, to)
	err := r.configure(requests, to)
	r.config = now
	return err
}

// responded is an answer to a request of ours. Only a refusal is news.
func (r *run) responded(ctx context.Context, m *response) error {
	if m.Response.Subtype != "error" {
		return nil
	}
	d := &harness.TransportDiagnostic{Status: "degraded", Kind: "control_refused", Reason: m.Response.Error}
	return r.host.Emit(ctx, d)
}
