package codex

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

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

	was    talk.Ref // where the last attempt, or turn, stopped
	talk   *talk.Talk
	tr     *translator
	home   string // the State that homes are in
	thread string
	id     string // of the program's turn
	over   *turnNotice
	stop   error // why the program was told to stop

	clean   bool // the process is fit for another turn, whatever this one came to
	marked  bool // the session knows which thread is its own
	steered bool
	telling []*[]input // what the program was told in its turn and has not answered
	late    []input    // what it would not hear
}

// play runs the attempt to its end.
func (r *run) play(ctx context.Context) error {
	was := talk.ParseRef("codex", r.turn.Ref)
	r.was = was
	r.tr = newTranslator(r.turn.Directory)
	r.tr.calls.Attempt = r.turn.Attempt
	if was.Begun(r.turn) {
		r.tr.calls.Again = was
	}
	return talk.Play(ctx, r.turn, r.host, r.slot, was, r.once)
}

// once runs the turn in the session's process, or a new one.
func (r *run) once(ctx context.Context, g talk.Goal) error {
	ear := program.NewListener()
	warm, err := r.ready(g, ear)
	if err != nil {
		return err
	}
	p := r.slot.Process
	r.home = p.Kept.(*kept).home
	r.talk = &talk.Talk{
		Host: r.host, Process: p, Ear: ear, Silence: r.opts.Silence, Warm: warm,
		Request: r.requested, Notice: r.told, Slow: r.mark,
	}
	r.talk.Open(ctx)
	defer r.talk.Close()
	if !warm {
		if err := r.greet(ctx, p, g); err != nil {
			return err
		}
	}
	r.thread = p.Kept.(*kept).thread
	if g.Thread != "" && !r.was.Begun(r.turn) { // a turn that has begun is told of by its log
		g.Before = r.was.Unsaid + g.Before
	}
	err = r.speak(ctx, inputs(g.Parts, g.Before))
	for err == nil && r.stop == nil && len(r.late) > 0 && r.over.judge() == nil {
		say := r.late
		r.late = nil
		err = r.speak(ctx, say)
	}
	switch {
	case ctx.Err() != nil && r.over != nil:
		r.clean = true
		return context.Cause(ctx)
	case ctx.Err() != nil:
		r.interrupt()
		return context.Cause(ctx)
	case err != nil && r.marked && len(r.late)+len(r.telling) > 0:
		return errors.Join(err, r.mark(ctx))
	case err != nil:
		return err
	}
	return r.finish(ctx)
}

// ready finds the session's process, if it can go on, or starts one.
func (r *run) ready(g talk.Goal, ear *program.Listener) (warm bool, err error) {
	if p := r.slot.Process; p != nil {
		if k := p.Kept.(*kept); k.fits(g, r.turn.Directory, r.host.Config()) && p.Reusable() {
			p.Listen(ear)
			return true, nil
		}
		r.slot.Drop()
	}
	p, err := r.start(g, ear)
	if err != nil {
		return false, fmt.Errorf("start: %w", err)
	}
	r.log.Debug("process started", "resume", g.Thread != "")
	r.slot.Process = p
	return false, nil
}

// speak runs a turn of the program.
func (r *run) speak(ctx context.Context, say []input) error {
	k := r.slot.Process.Kept.(*kept)
	c := r.host.Config()
	k.config.Model, k.config.Effort = c.Model, c.Effort
	r.id, r.over = "", nil
	var begun turnNotice
	err := r.talk.Call(ctx, "turn/start", struct {
		Thread string  `json:"threadId"`
		Client string  `json:"clientUserMessageId"`
		Input  []input `json:"input"`
		Model  string  `json:"model,omitempty"`
		Effort string  `json:"effort,omitempty"`
	}{r.thread, string(r.turn.ID), say, c.Model, effort(c.Effort)}, &begun)
	if err != nil {
		return err
	}
	r.id = begun.Turn.ID
	r.talk.Steer = r.steer
	defer func() { r.talk.Steer = nil }()
	return r.talk.Hear(ctx, func() bool { return r.over != nil && len(r.telling) == 0 })
}

// steer tells the program what people say to the turn. If it does not hear it
// any more, it is told afterwards.
func (r *run) steer(parts []harness.Part) error {
	r.steered = true
	return r.interject(inputs(parts, ""))
}

func (r *run) interject(say []input) error {
	open := &say
	r.telling = append(r.telling, open)
	return r.talk.Send("turn/steer", struct {
		Thread string  `json:"threadId"`
		Turn   string  `json:"expectedTurnId"`
		Input  []input `json:"input"`
	}{r.thread, r.id, say}, func(m *talk.Message) error {
		r.telling = slices.DeleteFunc(r.telling, func(one *[]input) bool { return one == open })
		if m.Error != nil {
			r.late = append(r.late, say...)
		}
		return nil
	})
}

// halt makes the program stop its turn, which then fails with err.
func (r *run) halt(err error) error {
	if r.stop != nil {
		return nil
	}
	r.stop = err
	return r.talk.Send("turn/interrupt", r.whole(), func(*talk.Message) error { return nil })
}

func (r *run) whole() any {
	return struct {
		Thread string `json:"threadId"`
		Turn   string `json:"turnId"`
	}{r.thread, r.id}
}

// interrupt makes the program stop the turn, so that the thread goes on from
// there. If it does not in time, the process is not clean.
func (r *run) interrupt() {
	if r.id == "" || r.talk.Send("turn/interrupt", r.whole(), nil) != nil {
		return
	}
	r.clean = r.talk.Settle(r.opts.Interrupt, func(m *talk.Message) bool {
		if m.Method != "" && len(m.ID) > 0 {
			_ = r.talk.Refuse(m.ID, talk.CodeInternal, "the turn was cancelled") // if it cannot hear that, it does not end either
		}
		var t turnNotice
		return m.Method == "turn/completed" && m.Read(&t) == nil && t.Thread == r.thread
	})
}

// mark records which thread the session has.
func (r *run) mark(ctx context.Context) error {
	r.marked = true
	at := talk.Ref{Engine: "codex", Session: r.turn.Session, Thread: r.thread, Turn: r.turn.ID, Asked: r.talk.Asked()}
	unheard := slices.Clone(r.late)
	for _, one := range r.telling {
		unheard = append(unheard, *one...)
	}
	for _, in := range unheard {
		if in.Text != "" {
			at.Unsaid += in.Text + "\n\n"
		}
	}
	return r.host.Checkpoint(ctx, at.String())
}

// finish is the end of the program's turn.
func (r *run) finish(ctx context.Context) error {
	r.clean = true
	err := r.stop
	if err == nil {
		err = r.over.judge()
	}
	facts := append(r.tr.calls.Abandoned(), r.tr.usage()...)
	text := r.tr.speech.String()
	if err == nil && text != "" && !r.steered {
		facts = append(facts, &harness.Response{Text: text})
	}
	if err == nil {
		facts = append(facts, &harness.Completed{Result: text})
	}
	if e := r.talk.Emit(ctx, append(facts, r.tr.strange.Diagnostic()...)...); e != nil {
		return e
	}
	if err != nil {
		if !r.marked || len(r.late) > 0 {
			err = errors.Join(err, r.mark(ctx))
		}
		return err
	}
	done := talk.Ref{Engine: "codex", Session: r.turn.Session, Thread: r.thread, Turn: r.turn.ID, Done: true, At: r.id}
	return r.host.Checkpoint(ctx, done.String())
}
