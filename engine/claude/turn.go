package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

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
		return r.with(ctx, launch{id: newUUID(), resume: was.Claude, at: was.At}, content(t.Parts, ""))
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
	l.directory, l.config = r.turn.Directory, r.host.Config()
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
		case parts := <-r.host.Steering():
			r.steered = true
			err = r.reached(r.tell(content(parts, "")))
		case a := <-r.answered:
			err = r.reached(r.answer(a))
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

// mark records which conversation of the program the session has.
func (r *run) mark(ctx context.Context) error {
	r.marked = true
	at := ref{Session: r.turn.Session, Claude: r.proc.id, Turn: r.turn.ID}
	for _, a := range r.asks {
		at.Asked = append(at.Asked, asked{a.use.Call, a.use.Tool, harness.Digest(a.use.Input)})
	}
	slices.SortFunc(at.Asked, func(a, b asked) int { return cmp.Compare(a.Call, b.Call) })
	return r.host.Checkpoint(ctx, at.String())
}

// result is the end of one of the program's turns, which is ours unless it has
// been told more than it has finished with.
func (r *run) result(ctx context.Context, m *result) (over bool, err error) {
	if r.proc.resume != "" && !r.warm && !r.heard && m.lost() {
		return true, &lostError{m.words()}
	}
	r.settle(m)
	err = m.judge()
	if err == nil && len(r.pending) > 0 {
		return false, nil
	}
	r.clean = len(r.pending) == 0
	facts := append(r.tr.abandoned(), r.tr.finished(m, r.paid)...)
	if text := r.tr.said.String(); err == nil && text != "" && !r.steered {
		facts = append(facts, &harness.Response{Text: text, StopReason: m.StopReason})
	}
	if d := r.tr.strange(); d != nil {
		facts = append(facts, d)
	}
	if e := r.emit(ctx, facts); e != nil {
		return true, e
	}
	if err == nil {
		done := ref{Session: r.turn.Session, Claude: r.proc.id, Turn: r.turn.ID, Done: true, At: r.tr.lastSpoken}
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
	if m.UserMessages == nil && len(r.pending) > 0 { // a version that does not say
		r.pending = r.pending[1:]
	}
	r.pending = slices.DeleteFunc(r.pending, func(id string) bool { return slices.Contains(m.UserMessages, id) })
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
		t := time.NewTimer(farewell)
		defer t.Stop()
		select {
		case <-r.proc.dead:
		case <-t.C:
			return fmt.Errorf("%w: %w", err, harness.ErrRetry)
		}
	}
	if r.warm && !r.heard {
		r.slot.proc = nil
		return errStale
	}
	return fmt.Errorf("%s before the turn was over: %w", r.proc.fate(), harness.ErrRetry)
}

// interrupt makes the program stop the turn, so that the conversation goes on
// from there. If it does not in time, the process is not clean.
func (r *run) interrupt(ctx context.Context, ear *listener) error {
	why := context.Cause(ctx)
	if !r.heard && !r.warm { // it is still starting
		return why
	}
	q, err := r.proc.request(map[string]any{"subtype": "interrupt", "cancel_queued": true})
	if err != nil {
		return why
	}
	t := time.NewTimer(r.engine.opts.Interrupt)
	defer t.Stop()
	for {
		select {
		case l := <-ear.lines:
			m, err := decode(l.b)
			if l.err != nil || err != nil {
				return why
			}
			switch m := m.(type) {
			case *result:
				r.settle(m)
				r.clean = true
				return why
			case *response:
				if m.Response.RequestID == q && m.cancelled(r.pending) {
					r.clean = true
					return why
				}
			}
		case <-r.proc.dead:
			return why
		case <-t.C:
			return why
		}
	}
}

// cancelled reports whether the answer to an interrupt says that nothing of
// what the program was told had begun.
func (m *response) cancelled(pending []string) bool {
	var body struct {
		Cancelled []string `json:"cancelled"`
	}
	_ = json.Unmarshal(m.Response.Response, &body) // one that says nothing
	return len(pending) > 0 && !slices.ContainsFunc(pending, func(id string) bool { return !slices.Contains(body.Cancelled, id) })
}

// lostError says that the program does not have the conversation.
type lostError struct{ why string }

func (e *lostError) Error() string { return "the program's conversation is lost: " + e.why }
