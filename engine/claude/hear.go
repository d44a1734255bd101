package claude

import (
	"context"
	"fmt"
	"time"

	"harness"
	"harness/engine/internal/program"
)

// hear listens until the turn is over.
func (r *run) hear(ctx, asks context.Context) error {
	limit := r.opts.Silence
	silence := time.NewTimer(limit)
	defer silence.Stop()
	for {
		if ctx.Err() != nil {
			return r.interrupt(ctx)
		}
		var err error
		over := false
		select {
		case <-ctx.Done():
		case l := <-r.ear.Lines:
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
		case <-r.proc.Dead:
			return r.failed(nil)
		case <-silence.C:
			select {
			case l := <-r.ear.Lines: // it is the session that was slow
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
func (r *run) line(ctx, asks context.Context, l program.Line) (over bool, err error) {
	if l.Err != nil {
		return false, l.Err
	}
	m, err := decode(l.Bytes)
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
			r.proc.Ready()
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
		r.noteRepeat(m)
		r.proc.Worked = r.proc.Worked || m.Type == "user" && !m.Replay
		if err := r.reached(r.reconfigure()); err != nil {
			return false, err
		}
	}
	facts := r.tr.take(m)
	r.noteCalls()
	return false, r.emit(ctx, facts)
}

// noteCalls notes that commands may have left something, also one that is cut
// short.
func (r *run) noteCalls() { r.proc.Worked = r.proc.Worked || len(r.tr.calls) > 0 }

// noteRepeat notes that the program has taken up what it was told: then it repeats
// it.
func (r *run) noteRepeat(m *spoken) {
	if m.Replay {
		r.repeated = append(r.repeated, m.UUID)
	}
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

// responded is an answer to a request of ours. Only a refusal is news: the next
// turn has another process, which begins as it should be.
func (r *run) responded(ctx context.Context, m *response) error {
	if m.Response.Subtype != "error" {
		return nil
	}
	r.proc.refused = true
	d := &harness.TransportDiagnostic{Status: "degraded", Kind: "control_refused", Reason: m.Response.Error}
	return r.host.Emit(ctx, d)
}
