package claude

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"harness"
)

// run is an attempt at a turn.
type run struct {
	engine *Engine
	slot   *slot
	turn   harness.Turn
	host   harness.Host
	log    *slog.Logger

	tr      *translator
	proc    *process
	clean   bool     // the process is fit for another turn, whatever this one came to
	warm    bool     // the process is one that was kept
	heard   bool     // it has begun to work on the turn
	marked  bool     // the session knows which conversation of the program is its own
	open    bool     // it knows of questions that wait
	steered bool     // somebody spoke to the turn
	pending []string // what the program was told and has not finished with
	paid    float64
	config  harness.Config // as the program was told

	asks     map[string]*ask // that wait for an answer, by the program's id
	asking   sync.WaitGroup
	answered chan answer
	waiting  chan struct{} // an answer takes its time
}

// onward is said to a program that was interrupted.
const onward = "The last attempt at this was interrupted. Go on from where it stopped."

// play runs the attempt to its end.
func (r *run) play(ctx context.Context) error {
	was := parseRef(r.turn.Ref)
	if was.completed(r.turn) {
		return nil
	}
	var again ref
	if was.begun(r.turn) {
		again = was
	}
	r.tr = newTranslator(again)
	err := r.begin(ctx, was)
	if lost, ok := errors.AsType[*lostError](err); ok {
		r.drop()
		d := &harness.TransportDiagnostic{Status: "degraded", Kind: "resume_lost", Reason: lost.why}
		if err = r.host.Emit(ctx, d); err != nil {
			return err
		}
		err = r.afresh(ctx)
	}
	return err
}

// begin picks the conversation to go on with.
func (r *run) begin(ctx context.Context, was ref) error {
	t := r.turn
	switch {
	case t.Fresh && !was.begun(t):
		return r.with(ctx, launch{id: newUUID()}, content(t.Parts, ""))
	case was.Claude == "":
		return r.afresh(ctx)
	case was.Session == t.Session:
		say := content(t.Parts, "")
		if was.begun(t) {
			say = onward
		}
		return r.with(ctx, launch{id: was.Claude, resume: was.Claude}, say)
	case !was.Done:
		return &lostError{"the session was branched off in the middle of a turn"}
	default:
		return r.with(ctx, launch{id: newUUID(), resume: was.Claude, at: was.At, from: was.Session}, content(t.Parts, ""))
	}
}

// afresh begins a conversation with what the session's log says of it so far.
func (r *run) afresh(ctx context.Context) error {
	seed, err := r.seed(ctx)
	if err != nil {
		return err
	}
	return r.with(ctx, launch{id: newUUID()}, content(r.turn.Parts, seed))
}

// errStale says that a process that was kept ended before it took the turn up.
var errStale = errors.New("the process had ended")

// with runs the turn in a process that has the conversation.
func (r *run) with(ctx context.Context, l launch, say any) error {
	l.session, l.directory, l.config = r.turn.Session, r.turn.Directory, r.host.Config()
	err := r.once(ctx, l, say)
	if errors.Is(err, errStale) && ctx.Err() == nil {
		err = r.once(ctx, l, say)
	}
	return err
}

// once runs the turn in the session's process, or a new one.
func (r *run) once(ctx context.Context, l launch, say any) error {
	ear := newListener()
	if err := r.ready(l, ear); err != nil {
		return err
	}
	p := r.proc
	defer p.listen(nil)
	if !r.warm {
		if err := r.host.Emit(ctx, &p.notice); err != nil {
			return err
		}
	}
	if err := r.reached(r.tell(say)); err != nil {
		return err
	}
	asks, cancel := context.WithCancel(ctx)
	r.asks, r.answered, r.waiting = make(map[string]*ask), make(chan answer), make(chan struct{})
	defer r.asking.Wait()
	defer cancel()
	return r.hear(ctx, asks, ear)
}

// ready finds the session's process, if it can go on, or starts one.
func (r *run) ready(l launch, ear *listener) error {
	r.config, r.warm, r.heard, r.pending = l.config, false, false, nil
	if p := r.slot.proc; p != nil {
		requests, live := changes(p.config, l.config)
		if live && p.id == l.id && l.resume == l.id && p.directory == l.directory && p.reusable() {
			r.proc, r.warm = p, true
			p.listen(ear)
			return r.reached(r.configure(requests, l.config))
		}
		r.drop()
	}
	p, err := r.engine.opts.start(l, ear)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	r.log.Debug("process started", "resume", l.resume != "")
	r.slot.proc, r.proc = p, p
	_, err = p.request(map[string]string{"subtype": "initialize"})
	return r.reached(err)
}

// drop ends the session's process.
func (r *run) drop() {
	if r.slot.proc != nil {
		r.slot.proc.stop()
	}
	r.slot.proc, r.proc = nil, nil
}

// configure makes the program follow a configuration.
func (r *run) configure(requests []any, to harness.Config) error {
	for _, q := range requests {
		if _, err := r.proc.request(q); err != nil {
			return err
		}
	}
	r.proc.config, r.config = to, to
	return nil
}

// tell says something to the program.
func (r *run) tell(content any) error {
	m := said{Type: "user", UUID: newUUID()}
	m.Message.Role, m.Message.Content = "user", content
	r.pending = append(r.pending, m.UUID)
	return r.proc.send(m)
}

// lostError says that the program does not have the conversation.
type lostError struct{ why string }

func (e *lostError) Error() string { return "the program's conversation is lost: " + e.why }
