package kernel

import "harness"

// ticket names whoever waits for an answer. The machine only hands it back.
type ticket any

// input is something that happened.
type input interface{ input() }

type (
	// commanded: a client wants something.
	commanded struct {
		from ticket
		cmd  harness.Command
	}
	// emitted: the engine reports a fact.
	emitted struct {
		turn harness.TurnID
		report
	}
	// asked: the engine wants to run a call. use is what is kept and shown of
	// it; real is the call itself, which is never kept, if that is another.
	asked struct {
		from ticket
		turn harness.TurnID
		use  harness.ToolUse
		real *harness.ToolUse
	}
	// delegated: the engine is about to hand work on, which may change files.
	delegated struct {
		from ticket
		turn harness.TurnID
	}
	// checkpointed: the engine can go on from here.
	checkpointed struct {
		from ticket
		turn harness.TurnID
		ref  string
	}
	// ended: the engine has returned and left nothing running. unread is what
	// people said to it and it did not take.
	ended struct {
		turn   harness.TurnID
		err    error
		retry  bool
		leave  bool // it was stopped by a shutdown: leave the turn open
		alive  bool // and its run goes on without us
		unread []harness.Word
	}
	// appended: the append in flight is durable, or failed.
	appended struct {
		events []harness.Event
		err    error
	}
	// joined: a watcher wants the state.
	joined struct{ from ticket }
	// recovered: the session was loaded; see to what a crash left open.
	recovered struct {
		alive bool // the run of the open turn goes on
	}
	// called: by the line of those who wait, with a place or only to look at the
	// clock.
	called struct {
		from  ticket
		place bool
	}
	// drained: take no new work.
	drained struct{}
	// ticked: time has passed.
	ticked struct{}
	// ruled: there are other rules than before.
	ruled struct{}
	// marked: files were kept, or why not.
	marked struct {
		turn    harness.TurnID
		phase   harness.MarkPhase
		mark    harness.Mark
		problem string
	}
	// rewound: files were taken back, as far as they could be.
	rewound struct {
		result  harness.Rewound
		err     error
		problem string // err, as the log tells it
	}
)

func (commanded) input()    {}
func (emitted) input()      {}
func (asked) input()        {}
func (delegated) input()    {}
func (checkpointed) input() {}
func (ended) input()        {}
func (appended) input()     {}
func (joined) input()       {}
func (recovered) input()    {}
func (called) input()       {}
func (drained) input()      {}
func (ticked) input()       {}
func (ruled) input()        {}
func (marked) input()       {}
func (rewound) input()      {}

// effect is something to do once the events it depends on are durable.
type effect interface {
	// refused is what to do instead if they never become durable.
	refused(err error) []effect
}

type (
	// reply answers a command or a checkpoint.
	reply struct {
		to      ticket
		receipt harness.Receipt
		err     error
	}
	// snapshot hands a watcher the state it joined at.
	snapshot struct {
		to    ticket
		state *harness.State
		err   error
	}
	// start runs an engine.
	start struct{ turn harness.Turn }
	// stop tells the engine to end the turn.
	stop struct {
		turn harness.TurnID
		held bool // it goes on later
	}
	// decide answers the engine's question.
	decide struct {
		to       ticket
		decision harness.Decision
		err      error
	}
	// steer passes a word on to the engine.
	steer struct {
		turn harness.TurnID
		word harness.Word
	}
	// configure tells the engine the new configuration.
	configure struct{ config harness.Config }
	// stand makes a rule hold everywhere; with err, nobody knows whether it does.
	stand struct {
		rule harness.Rule
		err  error
	}
	// mark keeps the files of the turn's directory.
	mark struct {
		turn  harness.TurnID
		phase harness.MarkPhase
	}
	// rewind takes files back.
	rewind struct{ cmd harness.Rewind }
	// die ends the session: the store and the machine may disagree.
	die struct{ err error }
)

func (e reply) refused(err error) []effect    { return []effect{reply{to: e.to, err: err}} }
func (e snapshot) refused(err error) []effect { return []effect{snapshot{to: e.to, err: err}} }
func (e decide) refused(err error) []effect   { return []effect{decide{to: e.to, err: err}} }
func (e stand) refused(err error) []effect    { return []effect{stand{e.rule, err}} }
func (start) refused(error) []effect          { return nil }
func (stop) refused(error) []effect           { return nil }
func (steer) refused(error) []effect          { return nil }
func (configure) refused(error) []effect      { return nil }
func (mark) refused(error) []effect           { return nil }
func (rewind) refused(error) []effect         { return nil }
func (die) refused(error) []effect            { return nil }

// refuse answers inputs that reach a machine that is done.
func (m *machine) refuse(r *ready, in input) {
	switch in := in.(type) {
	case commanded:
		r.effects = append(r.effects, reply{to: in.from, err: errGone})
	case checkpointed:
		r.effects = append(r.effects, reply{to: in.from, err: errGone})
	case called:
		r.effects = append(r.effects, reply{to: in.from, err: errGone})
	case asked:
		r.effects = append(r.effects, decide{to: in.from, err: errGone})
	case delegated:
		r.effects = append(r.effects, decide{to: in.from, err: errGone})
	case joined:
		r.effects = append(r.effects, snapshot{to: in.from, err: errGone})
	case emitted, ended, appended, recovered, drained, ticked, ruled, marked, rewound, tallied:
	}
}
