package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"harness"
)

// session is one awake session: a goroutine that feeds the machine and carries
// out what it decides.
type session struct {
	k  *Kernel
	id harness.SessionID

	first    input              // what woke it; nil: nothing that it is to answer
	commands chan input         // clients
	reports  chan input         // the engine; not read while the machine is full
	returned chan ended         // engine.Run came back
	appends  chan appended      // store.Append came back; size 1, at most one is under way
	keeps    chan snapshot      // a state to save; size 1, likewise
	saved    chan saved         // it was saved; size 1, likewise
	away     chan chan error    // Kernel.Remove: end if nothing is under way
	drain    chan struct{}      // closed by Kernel.Drain
	halt     chan struct{}      // closed by Kernel.Close and StepDown: end now
	done     chan struct{}      // closed when the session has ended
	rung     chan struct{}      // there are other rules; size 1, one ring is as good as many
	loaded   chan struct{}      // closed when tail and m are there, or err
	err      error              // why it could not be loaded
	release  func()             // gives up the claim of it
	failed   error              // why it ended in the middle; set before the tail closes
	tail     *tail              // set before loaded
	origin   *harness.State     // what it woke with; set before loaded and never changed
	m        *machine           // owned by run
	host     *host              // of the running turn
	stop     context.CancelFunc // ends the running turn
	cause    error              // why the turn was told to end
	save     saving
	filing   filing
	hushed   bool          // the engine was told to stop
	taken    bool          // another process has gone on with it
	mail     *mail         // from the sessions below
	told     harness.Tally // to the one above
	settling bool
	log      *slog.Logger
}

// run owns the session from load to end.
func (s *session) run(ctx context.Context) {
	defer close(s.done)
	state, kept, err := s.claimed(ctx)
	if err != nil {
		s.fails(err)
		return
	}
	s.save.last, s.origin = kept, state.Clone()
	s.m = newMachine(state, s.k.limits, s.k.newID)
	s.m.standing = s.k.standing(ctx, state.Directory)
	if find := s.k.opts.Policy; find != nil {
		s.m.policy = find(state.Directory)
	}
	s.openFiles()
	s.openEngine()
	s.tail = newTail(state.Seq, s.k.opts.TailEvents)
	close(s.loaded)
	defer s.tail.close()
	s.k.woke(s.id)
	s.m.draining = s.k.isDraining()
	s.carryOut(ctx, s.m.step(time.Now(), recovered{alive: s.survives(ctx)}))
	if s.first != nil {
		s.hear(ctx, s.first)
		s.first = nil
	}
	s.loop(ctx)
	s.settle()
	switch {
	case s.taken:
		s.k.regain(s.id)
	case s.failed != nil || len(s.rung) > 0:
		s.k.later(s.id)
	}
}

// claimed is the stored state of a session that is ours.
func (s *session) claimed(ctx context.Context) (state *harness.State, kept harness.Seq, err error) {
	if s.release, err = s.k.claim(ctx, s.id); err != nil {
		return nil, 0, err
	}
	if state, kept, err = s.k.load(ctx, s.id, 0); err != nil {
		s.giveBack(err)
	}
	return state, kept, err
}

// fails ends a session that cannot be loaded.
func (s *session) fails(err error) {
	s.err = err
	s.k.forget(s)
	close(s.loaded)
}

// loop feeds the machine until the session has nothing to do, or must end.
func (s *session) loop(ctx context.Context) {
	idle := time.NewTimer(s.k.opts.IdleAfter)
	defer idle.Stop()
	tick := time.NewTimer(time.Hour)
	defer tick.Stop()
	drain, leaving := s.drain, false
	var away chan error       // whoever waits for the end
	var look <-chan time.Time // whether the run goes on without us
	if s.m.draining {
		drain = nil // woken since: whoever did it wants something
	}
	for !s.m.dead {
		if s.host != nil && s.m.engine == "" {
			s.log.Error("engine did not stop; going on without it", "turn", s.host.turn)
			s.host.leave()
			s.host, s.stop = nil, nil
		}
		now := time.Now()
		tick.Stop()
		if at := s.m.wakeAt(); !at.IsZero() {
			tick.Reset(max(0, at.Sub(now)))
		}
		quiet := s.m.quiet() && s.host == nil && !s.save.busy
		if leaving && (quiet || s.m.stands()) {
			return
		}
		if leaving && look == nil {
			if s.goesOn(ctx) {
				return
			}
			look = time.After(lookAgain)
		}
		switch busy := s.m.state.Turn != nil || len(s.m.state.Queue) > 0; {
		case away != nil && busy:
			away <- harness.ErrBusy
			away = nil
		case away != nil && quiet:
			away <- nil
			return
		}
		var in input
		select {
		case in = <-s.commands:
			idle.Reset(s.k.opts.IdleAfter)
			s.m.draining = s.m.draining || s.k.isDraining() // drain may be ready, too
		case in = <-s.mayReport():
		case e := <-s.returned:
			in = s.left(e)
			idle.Reset(s.k.opts.IdleAfter)
		case in = <-s.appends:
		case in = <-s.filing.done:
			s.filing.busy = false
			idle.Reset(s.k.opts.IdleAfter)
		case snap := <-s.keeps:
			s.keep(ctx, snap)
			continue
		case r := <-s.saved:
			s.sealed(r)
			continue
		case away = <-s.away:
			continue
		case <-drain:
			in, drain, leaving = drained{}, nil, true
		case <-look:
			look = nil
			continue
		case <-tick.C:
			in = ticked{}
		case <-s.rung:
			in = ruled{}
		case <-s.mail.bell:
			s.hearChildren(ctx)
			continue
		case <-idle.C:
			if quiet {
				return
			}
			idle.Reset(s.k.opts.IdleAfter)
			continue
		case <-s.halt:
			return
		}
		s.hear(ctx, in)
	}
}

// hear feeds the machine one input.
func (s *session) hear(ctx context.Context, in input) {
	s.hearOut(ctx, in)
	s.carryOut(ctx, s.m.step(time.Now(), in))
}

// hearOut lets the engine finish its words before somebody speaks to the turn:
// what is held back of them was said before.
func (s *session) hearOut(ctx context.Context, in input) {
	c, ok := in.(commanded)
	if !ok || s.host == nil {
		return
	}
	switch c := c.cmd.(type) {
	case harness.Steer, harness.Cancel:
	case harness.Submit:
		if c.OnBusy != harness.Interrupt {
			return
		}
	default:
		return
	}
	for _, r := range s.host.clean.flush() {
		s.carryOut(ctx, s.m.step(time.Now(), emitted{s.host.turn, r}))
	}
}

// settle ends what is still under way. The engine is told to stop and waited
// for, within bounds; what it reports is kept, and a turn it leaves open stays
// open in the log, as after a crash. Then the session is forgotten, and whoever
// wants it wakes a fresh one.
func (s *session) settle() {
	ctx := context.Background()
	s.m.window, s.m.draining, s.settling = 0, true, true
	if s.host != nil {
		s.cause = harness.ErrShutdown
		s.stop()
		s.hushed = true
	}
	giveUp := time.NewTimer(s.k.opts.CancelGrace)
	defer giveUp.Stop()
	left := s.k.opts.Left
	for {
		if s.host == nil && left != nil { // not later: a store that is out of reach keeps the rest
			left(s.id)
			left = nil
		}
		if s.host == nil && !s.m.flying && !s.save.busy && !s.filing.busy {
			break
		}
		var in input
		select {
		case e := <-s.returned:
			in = s.left(e)
		case in = <-s.mayReport():
		case in = <-s.appends:
		case in = <-s.filing.done:
			s.filing.busy = false
		case snap := <-s.keeps:
			s.keep(ctx, snap)
			continue
		case r := <-s.saved:
			s.sealed(r)
			continue
		case <-giveUp.C:
			if s.filing.busy {
				s.filing.cancel()
			}
			if s.host != nil {
				s.log.Error("engine did not stop", "turn", s.host.turn)
				s.host.leave()
				s.host = nil
			}
			continue
		}
		s.carryOut(ctx, s.m.step(time.Now(), in))
	}
	s.saveLast(ctx)
	s.letGo()
	s.k.forget(s)
	if s.m.state.Queues() {
		s.k.queue.change(func(l *line) { l.asleep(s.id) })
	}
}

// mayReport is the engine's channel, or none while it must wait: also between
// the decision to hold its turn and the word to it.
func (s *session) mayReport() <-chan input {
	if s.m.full() || s.m.holding && !s.hushed {
		return nil
	}
	return s.reports
}

// left is the end of an engine's run, with what people said to it in vain.
func (s *session) left(e ended) ended {
	if s.host != nil && s.host.turn == e.turn {
		e.unread = s.host.unread()
		s.host, s.stop = nil, nil
	}
	e.alive = e.leave && s.m.state.Turn != nil && s.outlives(context.Background())
	return e
}

// carryOut does what the machine decided, in its order.
func (s *session) carryOut(ctx context.Context, r ready) {
	if c := r.commit; c != nil {
		news, parent := s.toTell(c), s.m.state.SpawnedBy
		s.k.wg.Go(func() {
			began := time.Now()
			err := s.k.store.Append(context.WithoutCancel(ctx), *c)
			took := time.Since(began)
			if err == nil {
				s.tail.add(c.Events)
				s.k.shown(s.id, c.Events)
				s.k.tellParent(parent, news)
				s.tail.announce()
				s.k.queue.see(c.Summary)
			}
			s.appends <- appended{c.Events, err}
			for _, f := range s.k.onCommit {
				f(*c, took, err)
			}
		})
		for _, f := range s.k.onSend {
			f(s.id, c.Events)
		}
	}
	for _, e := range r.effects {
		switch e := e.(type) {
		case reply:
			e.to.(chan reply) <- e
		case snapshot:
			e.to.(chan snapshot) <- e
		case decide:
			e.to.(chan decide) <- e
		case start:
			if !s.settling { // else the turn stays open in the log
				s.startTurn(ctx, e.turn)
			}
		case stop:
			if s.host != nil && s.host.turn == e.turn {
				if e.held {
					s.cause = harness.ErrHeld
				}
				s.stop()
				s.hushed = true
			}
		case steer:
			if s.host != nil && s.host.turn == e.turn {
				s.host.say(e.word)
			}
		case configure:
			if s.host != nil {
				s.host.config.Store(&e.config)
			}
		case stand:
			s.k.stand(ctx, e)
		case mark:
			s.file(ctx, markFor, func(ctx context.Context) input { return s.mark(ctx, e) })
		case rewind:
			s.file(ctx, rewindFor, func(ctx context.Context) input { return s.rewind(ctx, e.cmd) })
		case die:
			if s.taken = s.k.lost(e.err); s.taken { // its watchers find it where it goes on
				s.log.Warn("another process has gone on with the session", "err", e.err)
				break
			}
			s.failed = e.err
			s.log.Error("session ended", "err", e.err)
		}
	}
	s.saveIfDue()
}

// startTurn runs the session's engine in its own goroutine. The session hears
// of its end through returned, and does not end before, unless the engine
// ignores its context for longer than CancelGrace: then it is left alone.
func (s *session) startTurn(ctx context.Context, t harness.Turn) {
	engine, err := s.k.engine(s.m.state.Engine)
	turn, cancel := context.WithCancelCause(ctx)
	over, leave := context.WithCancel(context.WithoutCancel(ctx))                                      // a turn that was told to end may say how it did
	h := &host{s: s, turn: t.ID, done: over.Done(), leave: leave, words: make(chan []harness.Word, 1)} // see host.say
	if read := s.m.state.Turn; t.Attached > 0 && read != nil {
		h.clean = newCleaner(s.k.opts.Redact, read.Followed)
	} else {
		h.clean = newCleaner(s.k.opts.Redact, nil)
	}
	h.config.Store(&t.Config)
	s.host, s.cause, s.hushed = h, harness.ErrNotRunning, false
	s.stop = func() { cancel(s.cause) }
	go func() {
		defer cancel(nil)
		if err == nil {
			err = run(turn, engine, t, h)
		}
		h.last()
		leave()
		e := ended{turn: t.ID, err: h.clean.err(err), retry: errors.Is(err, harness.ErrRetry), leave: errors.Is(context.Cause(turn), harness.ErrShutdown)}
		select {
		case s.returned <- e:
		case <-s.done: // the session gave up waiting
		}
	}()
}

// openEngine tells the machine what the engine can do, as far as it knows.
func (s *session) openEngine() {
	if e, err := s.k.engine(s.m.state.Engine); err == nil {
		can := e.Abilities()
		s.m.keep.asks = can.Approve
		s.m.player = player{cmp.Or(s.m.state.Engine, s.k.opts.Engine), can.Lacks()}
	}
}

// survives reports whether a run goes on that the log knows as under way.
func (s *session) survives(ctx context.Context) bool {
	return s.m.state.Turn != nil && !s.m.draining && s.outlives(ctx)
}

// lookAgain is how often a session that is to end asks whether its run would go
// on: one that has just begun may not be there yet.
const lookAgain = time.Second

// goesOn reports whether the engine's run goes on when the session ends, and
// nobody has told it to stop.
func (s *session) goesOn(ctx context.Context) bool {
	t := s.m.state.Turn
	return s.host != nil && t != nil && t.ID == s.host.turn && !t.Cancelling && !s.m.holding && !s.m.keep.busy() && s.outlives(ctx)
}

// outlives asks the engine whether the open turn's run can be followed by
// another process.
func (s *session) outlives(ctx context.Context) bool {
	engine, err := s.k.engine(s.m.state.Engine)
	if err != nil {
		return false
	}
	e, ok := engine.(harness.Survivor)
	return ok && e.Survives(ctx, s.m.turn())
}

// run is engine.Run, with a panic turned into the failure of this one turn.
func run(ctx context.Context, e harness.Engine, t harness.Turn, h harness.Host) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine panicked: %v", p)
		}
	}()
	return e.Run(ctx, t, h)
}
