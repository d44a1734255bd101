package claude

import (
	"context"
	"encoding/json"
	"time"
)

// interrupt makes the program stop the turn, so that the conversation goes on
// from there. If it does not in time, or goes on with something it was told, the
// process is not clean.
func (r *run) interrupt(ctx context.Context) error {
	why := context.Cause(ctx)
	if !r.heard && !r.warm { // it is still starting
		return why
	}
	q, err := r.proc.request(map[string]any{"subtype": "interrupt", "cancel_queued": true})
	if err != nil {
		return why
	}
	t := time.NewTimer(r.opts.Interrupt)
	defer t.Stop()
	var ended, mute bool // a turn of the program has; it does not say what follows
	for !r.clean && !(ended && mute) {
		select {
		case l := <-r.ear.Lines:
			m, err := decode(l.Bytes)
			if l.Err != nil || err != nil {
				return why
			}
			switch m := m.(type) {
			case *streamed, *spoken:
				r.overhear(m)
			case *result:
				ended = true
				r.settle(m)
				if r.paid > 0 || r.tr.spent.InputTokens > 0 {
					_ = r.emit(context.WithoutCancel(ctx), r.tr.finished(m, r.paid)) // if the session still wants to know
				}
			case *response:
				r.proc.refused = r.proc.refused || m.Response.Subtype == "error"
				if m.Response.RequestID == q {
					cancelled, says := m.cancelled()
					r.forget(cancelled)
					mute = !says
				}
			}
			r.clean = len(r.pending) == 0
		case <-r.proc.Dead:
			return why
		case <-t.C:
			return why
		}
	}
	return why
}

// overhear takes note of what the program does, which is told to nobody any more.
func (r *run) overhear(m any) {
	if m, ok := m.(*spoken); ok {
		r.noteRepeat(m)
	}
	r.tr.take(m)
	r.noteCalls()
}

// cancelled is what the answer to an interrupt says had not begun, and will not;
// false if it says nothing about that.
func (m *response) cancelled() (ids []string, says bool) {
	var body struct {
		Cancelled []string `json:"cancelled"`
		Queued    []string `json:"still_queued"`
	}
	_ = json.Unmarshal(m.Response.Response, &body) // one that says nothing
	return body.Cancelled, body.Cancelled != nil || body.Queued != nil
}
