package claude

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

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

	tr       *translator
	proc     process
	ear      *program.Listener
	clean    bool     // the process is fit for another turn, whatever this one came to
	warm     bool     // the process is one that was kept
	heard    bool     // it has begun to work on the turn
	marked   bool     // the session knows which conversation of the program is its own
	open     bool     // it knows of questions that wait
	steered  bool     // somebody spoke to the turn
	pending  []string // what the program was told and has not finished with
	repeated []string // what it has taken up in its present turn
	paid     float64
	config   harness.Config // as the program was told

	asks     map[string]*ask // that wait for an answer, by the program's id
	asking   sync.WaitGroup
	answered chan answer
	waiting  chan struct{} // an answer takes its time
}

// play runs the attempt to its end.
func (r *run) play(ctx context.Context) error {
	was := talk.ParseRef("claude", r.turn.Ref)
	again := talk.Ref{}
	if was.Begun(r.turn) {
		again = was
	}
	r.tr = newTranslator(again)
	return talk.Play(ctx, r.turn, r.host, r.slot, was, r.once)
}

// once runs the turn in the session's process, or a new one.
func (r *run) once(ctx context.Context, g talk.Goal) error {
	r.ear = program.NewListener()
	l := launch{session: r.turn.Session, directory: r.turn.Directory, id: g.Thread, resume: g.Thread, at: g.At, from: g.From, config: r.host.Config()}
	if g.Thread == "" || g.From != "" {
		l.id = newUUID()
	}
	err := r.ready(l)
	p := r.proc
	if p.Process != nil {
		defer p.Listen(nil) // or its words would keep it from ending
	}
	if err != nil {
		return err
	}
	if !r.warm {
		if err := r.host.Emit(ctx, &p.Notice); err != nil {
			return err
		}
	}
	if err := r.reached(r.tell(content(g.Parts, g.Before))); err != nil {
		return err
	}
	asks, cancel := context.WithCancel(ctx)
	r.asks, r.answered, r.waiting = make(map[string]*ask), make(chan answer), make(chan struct{})
	defer r.asking.Wait()
	defer cancel()
	return r.hear(ctx, asks)
}

// ready finds the session's process, if it can go on, or starts one.
func (r *run) ready(l launch) error {
	r.config, r.warm, r.heard, r.pending, r.repeated = l.config, false, false, nil, nil
	if r.slot.Process != nil {
		p := occupant(r.slot)
		requests, live := changes(p.config, l.config)
		if live && p.id == l.id && l.resume == l.id && p.directory == l.directory && p.reusable() {
			r.proc, r.warm = p, true
			p.Listen(r.ear)
			return r.reached(r.configure(requests, l.config))
		}
		r.slot.Drop()
	}
	p, err := r.opts.start(l, r.ear)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	r.log.Debug("process started", "resume", l.resume != "")
	r.slot.Process = p
	r.proc = occupant(r.slot)
	_, err = r.proc.request(map[string]string{"subtype": "initialize"})
	return r.reached(err)
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
