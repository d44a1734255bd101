package acp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"harness"
	"harness/engine/internal/program"
	"harness/engine/internal/talk"
)

// run is an attempt at a turn.
type run struct {
	opts *Options
	slot *program.Slot
	turn harness.Turn
	host harness.Host
	log  *slog.Logger

	talk   *talk.Talk
	kept   *kept
	tr     *translator
	terms  map[string]*terminal
	grants []grant
	prompt string // the id of the request that is the turn
	over   *talk.Message
	past   bool // what is told was before the turn

	clean  bool // the process is fit for another turn, whatever this one came to
	marked bool // the session knows which conversation is its own
}

// play runs the attempt to its end.
func (r *run) play(ctx context.Context) error {
	was := talk.ParseRef("acp", r.turn.Ref)
	r.tr = newTranslator(r.turn.Directory)
	r.tr.calls.Attempt = r.turn.Attempt
	if was.Begun(r.turn) {
		r.tr.calls.Again = was
	}
	return talk.Play(ctx, r.turn, r.host, r.slot, was, r.once)
}

// once runs the turn in the session's process, or a new one.
func (r *run) once(ctx context.Context, g talk.Goal) error {
	if g.From != "" {
		return &talk.Lost{Why: "the protocol cannot branch a conversation off at a place"}
	}
	ear := program.NewListener()
	warm, err := r.ready(g.Thread, ear)
	if err != nil {
		return err
	}
	p := r.slot.Process
	r.kept, r.terms, r.grants = p.Kept.(*kept), make(map[string]*terminal), nil
	r.tr.screen = r.screen
	r.talk = &talk.Talk{
		Host: r.host, Process: p, Ear: ear, Version: "2.0", Silence: r.opts.Silence, Warm: warm,
		Request: r.requested, Notice: r.told, Slow: r.mark,
	}
	r.talk.Open(ctx)
	defer r.talk.Close()
	defer r.endTerminals()
	if !warm {
		if err := r.greet(ctx, p, g.Thread); err != nil {
			return err
		}
		if was := talk.ParseRef("acp", r.turn.Ref); g.Thread != "" && g.Thread == was.Thread {
			r.kept.cost = was.Cost
		}
	}
	if err := r.configure(ctx); err != nil {
		return err
	}
	err = r.speak(ctx, blocks(g.Parts, g.Before, r.kept.can.Prompt.Image))
	switch {
	case ctx.Err() != nil && r.over != nil:
		r.clean = true
		return context.Cause(ctx)
	case ctx.Err() != nil:
		r.interrupt()
		return context.Cause(ctx)
	case err != nil:
		return err
	}
	return r.finish(ctx)
}

// ready finds the session's process, if it can go on, or starts one.
func (r *run) ready(session string, ear *program.Listener) (warm bool, err error) {
	if p := r.slot.Process; p != nil {
		if k := p.Kept.(*kept); k.session == session && k.directory == r.turn.Directory && p.Reusable() {
			p.Listen(ear)
			return true, nil
		}
		r.slot.Drop()
	}
	p, err := r.start(ear)
	if err != nil {
		return false, fmt.Errorf("start: %w", err)
	}
	r.log.Debug("process started", "resume", session != "")
	r.slot.Process = p
	return false, nil
}

// speak runs a turn of the agent.
func (r *run) speak(ctx context.Context, say []block) error {
	err := r.talk.Send("session/prompt", struct {
		Session string  `json:"sessionId"`
		Prompt  []block `json:"prompt"`
	}{r.kept.session, say}, func(m *talk.Message) error { r.over = m; return nil })
	if err != nil {
		return err
	}
	r.prompt = strconv.Itoa(r.slot.Process.Serial)
	return r.talk.Hear(ctx, func() bool { return r.over != nil })
}

// told is something that the agent tells.
func (r *run) told(ctx context.Context, m *talk.Message) error {
	switch m.Method {
	case "session/update":
	case "$/cancel_request":
		return r.retracted(m)
	default:
		r.tr.strange.Count(m.Method)
		return nil
	}
	var n updateNotice
	if err := m.Read(&n); err != nil {
		return err
	}
	if n.Session != r.kept.session || r.past {
		return nil // a conversation of its own, or one that we know
	}
	facts := r.tr.take(&n.Update)
	if r.tr.commands {
		r.slot.Process.Worked = true
	}
	if len(facts) > 0 && !r.marked {
		if err := r.mark(ctx); err != nil {
			return err
		}
	}
	return r.talk.Emit(ctx, facts...)
}

// mark records which conversation the session has.
func (r *run) mark(ctx context.Context) error {
	r.marked = true
	at := talk.Ref{Engine: "acp", Session: r.turn.Session, Thread: r.kept.session, Turn: r.turn.ID, Asked: r.talk.Asked(), Cost: r.kept.cost}
	return r.host.Checkpoint(ctx, at.String())
}

// finish is the end of the agent's turn.
func (r *run) finish(ctx context.Context) error {
	r.clean = true
	var done promptAnswer
	err := done.judge(r.over)
	r.endTerminals()
	before := r.kept.cost
	facts := append(r.tr.calls.Abandoned(), r.tr.usage(&done, r.kept)...)
	text := r.tr.speech.String()
	if err == nil && text != "" {
		facts = append(facts, &harness.Response{Text: text, StopReason: done.Stop})
	}
	if err == nil {
		facts = append(facts, &harness.Completed{Result: text})
	}
	if e := r.talk.Emit(ctx, append(facts, r.tr.strange.Diagnostic()...)...); e != nil {
		return e
	}
	if err != nil {
		if !r.marked || r.kept.cost != before {
			err = errors.Join(err, r.mark(ctx))
		}
		return err
	}
	at := talk.Ref{Engine: "acp", Session: r.turn.Session, Thread: r.kept.session, Turn: r.turn.ID, Done: true, Cost: r.kept.cost}
	return r.host.Checkpoint(ctx, at.String())
}

// interrupt makes the agent stop the turn, so that the conversation goes on from
// there. If it does not in time, the process is not clean.
func (r *run) interrupt() {
	if r.prompt == "" || r.kept.session == "" {
		return
	}
	r.endTerminals()
	for _, m := range r.talk.Unanswered() {
		if r.dismiss(m) != nil {
			return
		}
	}
	if r.talk.Notify("session/cancel", map[string]string{"sessionId": r.kept.session}) != nil {
		return
	}
	r.clean = r.talk.Settle(r.opts.Interrupt, func(m *talk.Message) bool {
		if m.Method != "" && len(m.ID) > 0 {
			_ = r.dismiss(m) // if it cannot hear that, it does not answer either
		}
		return m.Method == "" && string(m.ID) == r.prompt
	})
}

// dismiss answers a request of a turn that was cancelled.
func (r *run) dismiss(m *talk.Message) error {
	if m.Method == "session/request_permission" {
		return r.talk.Reply(m.ID, cancelled())
	}
	return r.talk.Refuse(m.ID, withdrawn, "the turn was cancelled")
}
