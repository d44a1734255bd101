package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/health"
	"harness/policy"
)

// world is a model of everything around one machine: clients, an engine, a
// store, a clock. One seed picks what happens next, so a run can be repeated
// exactly. Its checks are the promises of the package.
type world struct {
	t    testing.TB
	seed uint64
	rng  *rand.Rand
	now  time.Time
	ids  int

	m       *machine
	log     []harness.Event // durable
	flight  *harness.Commit // in the store's hands
	crashAt int             // crash when this many commits were started; -1 for at random
	landed  bool            // whether the commit in flight survives that crash
	commits int
	crashes int

	engine   *modelEngine
	late     []*modelEngine // engines that were given up, or belong to an ended turn
	asked    map[*asking]bool
	clients  map[*client]bool // commands without an answer
	watchers []*watcher
	acked    []ack
	trace    []string

	rules []harness.Rule // durable
	book  []harness.Rule // that hold in memory
	gone  []harness.RuleID
	rung  bool // the machine is to look at them

	filing effect // the work on files that is under way

	retries int
	placed  bool // the machine was given a place, and has not started an engine since
}

type modelEngine struct {
	turn    harness.TurnID
	calls   []harness.CallID
	open    []harness.CallID
	n       int
	stopped bool
	waiting bool // for an answer
	over    bool // it has returned; nobody hears an answer
}

type (
	client struct{ cmd harness.Command }
	asking struct {
		engine *modelEngine
		access harness.Access
	}
	watcher struct{ state *harness.State }
	ack     struct {
		receipt harness.Receipt
		cmd     harness.Command
	}
)

func newWorld(t testing.TB, seed uint64) *world {
	w := &world{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 7)), now: time.UnixMilli(1_700_000_000_000).UTC(), crashAt: -1,
		asked: map[*asking]bool{}, clients: map[*client]bool{},
	}
	w.retries = w.rng.IntN(3)
	opening := &harness.SessionState{
		SessionID: "ses_w", Status: harness.Idle, Kind: harness.Chat, MaxRetries: &w.retries, Directory: "/w", Policy: w.bounds(1),
	}
	w.worksAlone(opening)
	w.log = []harness.Event{harness.NewEvent("ses_w", 1, w.now, "", opening)}
	w.boot()
	return w
}

func (w *world) failf(format string, args ...any) {
	w.t.Helper()
	tail := w.trace
	if len(tail) > 60 {
		tail = tail[len(tail)-60:]
	}
	w.t.Fatalf("seed %d, crash at %d: %s\n%s", w.seed, w.crashAt, fmt.Sprintf(format, args...), strings.Join(tail, "\n"))
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// boot loads a machine from the log, through a snapshot taken at a random
// place, as a kernel would.
func (w *world) boot() {
	st, diagnosis := new(harness.State), health.New(nil)
	cut := w.rng.IntN(len(w.log) + 1)
	for i, e := range w.log {
		if i == cut && i > 0 {
			w.seal(st)
			st.SetAside(diagnosis)
			var err error
			if st, err = harness.DecodeState(harness.EncodeState(st)); err != nil {
				w.failf("snapshot at %d: %v", i, err)
			}
			diagnosis = healthOf(st)
		}
		e2, err := harness.DecodeEvent(e.JSON())
		if err != nil {
			w.failf("event %d: %v", i, err)
		}
		st.Apply(e2)
		diagnosis.Apply(e2)
	}
	st.SetAside(diagnosis)
	l := limits{window: 16 * time.Millisecond, cancelGrace: time.Second, maxQueue: 3, backoff: time.Second}
	if w.seed%3 == 0 {
		l.approvalTimeout = time.Minute
	}
	w.m = newMachine(st, l, func(prefix string) string { w.ids++; return fmt.Sprintf("%s%d", prefix, w.ids) })
	w.book, w.rung = slices.Clone(w.rules), false
	if w.ruling() {
		w.m.standing = func(made []harness.Rule) []harness.Rule { return slices.Concat(w.book, made) }
	}
	w.m.keep.files, w.m.keep.asks = w.keeping(), w.asking()
	w.carryOut(w.m.step(w.now, recovered{}))
	w.checkReleased()
}

// bounds is a health policy, in some worlds: so many of what their engines do
// wrong.
func (w *world) bounds(n int64) *harness.SessionPolicy {
	switch w.seed % 5 {
	case 1:
		return &harness.SessionPolicy{Health: &harness.HealthPolicy{LoopWarnings: &n}}
	case 2:
		return &harness.SessionPolicy{Health: &harness.HealthPolicy{FailedToolCalls: &n, Action: harness.PauseSession}}
	}
	return nil
}

// ruling reports whether the world's store keeps rules.
func (w *world) ruling() bool { return w.seed%4 != 3 }

// keeping reports whether the world's directory keeps its files, asking whether
// its engine asks before it changes any.
func (w *world) keeping() bool { return w.seed%5 != 4 }
func (w *world) asking() bool  { return w.seed%2 == 0 }

func (w *world) seal(st *harness.State) {
	if w.rng.IntN(2) == 0 {
		st.Seal(st.Sealable())
	}
}

func (w *world) step(in input) {
	if a, ok := in.(appended); ok {
		for _, e := range a.events {
			w.note("  %d %s %s", e.Seq, e.Type(), e.Turn)
		}
		if a.err == nil {
			w.show(a.events)
		}
	} else {
		w.note("%s %T %+v", w.now.Format("05.000"), in, in)
	}
	before := len(w.m.state.Pending)
	r := w.m.step(w.now, in)
	if a, ok := in.(asked); ok && len(w.m.state.Pending) > before {
		if rule, ok := policy.Covering(nil, w.m.about(), w.book, a.use.Tool, a.use.Input); ok {
			w.failf("%s was asked about, though %s stands", a.use.Tool, rule.ID)
		}
	}
	w.carryOut(r)
	w.checkHealth()
}

// show is what the append's goroutine does before the machine hears of it.
func (w *world) show(events []harness.Event) {
	for _, e := range events {
		if int(e.Seq) > len(w.log) {
			w.failf("event %d shown before it is durable", e.Seq)
		}
		for _, wt := range w.watchers {
			if e.Seq != wt.state.Seq+1 {
				w.failf("watcher at %d was shown %d", wt.state.Seq, e.Seq)
			}
			wt.state.Apply(e)
		}
	}
}

func (w *world) carryOut(r ready) {
	if r.commit != nil {
		if w.flight != nil {
			w.failf("a second append while one is in flight")
		}
		if int(r.commit.After) != len(w.log) {
			w.failf("commit after %d, the log ends at %d", r.commit.After, len(w.log))
		}
		for i, e := range r.commit.Events {
			if int(e.Seq) != len(w.log)+i+1 {
				w.failf("commit has seq %d at place %d", e.Seq, len(w.log)+i+1)
			}
		}
		w.flight = r.commit
		w.commits++
	}
	for _, e := range r.effects {
		w.effect(e)
	}
}

func (w *world) effect(e effect) {
	w.note("  effect %T", e)
	switch e := e.(type) {
	case reply:
		switch to := e.to.(type) {
		case *client:
			if !w.clients[to] {
				w.failf("a command was answered twice: %+v", to.cmd)
			}
			delete(w.clients, to)
			if e.err == nil {
				if int(e.receipt.Seq) > len(w.log) {
					w.failf("acknowledged at %d before it is durable: %+v", e.receipt.Seq, to.cmd)
				}
				w.acked = append(w.acked, ack{e.receipt, to.cmd})
				w.checkAlways(e.receipt, to.cmd)
			}
		case *modelEngine:
			to.waiting = false
		}
	case snapshot:
		if e.err != nil {
			return
		}
		if int(e.state.Seq) > len(w.log) {
			w.failf("a watcher was given the state at %d before it is durable", e.state.Seq)
		}
		for _, e2 := range w.log[e.state.Seq:] { // the tail has what was shown meanwhile
			e.state.Apply(e2)
		}
		w.watchers = append(w.watchers, &watcher{e.state})
	case start:
		if w.engine != nil {
			if !w.engine.stopped {
				w.failf("a second engine while one runs")
			}
			w.late = append(w.late, w.engine)
		}
		if !w.has(func(p harness.Payload) bool {
			s, ok := p.(*harness.TurnStart)
			return ok && s.TurnID == e.turn.ID && s.Attempt == e.turn.Attempt
		}) {
			w.failf("turn %s started before turn_start is durable", e.turn.ID)
		}
		if !w.asking() {
			w.checkKept(e.turn.ID, "the engine was started")
		}
		if w.m.held() {
			w.failf("turn %s started though it is held", e.turn.ID)
		}
		w.checkPlace(e.turn.ID)
		if _, ok := w.filing.(rewind); ok {
			w.failf("turn %s started during a rewind", e.turn.ID)
		}
		w.engine = &modelEngine{turn: e.turn.ID}
		for _, o := range w.m.state.Turn.Open {
			w.engine.open = append(w.engine.open, o.ID)
			w.engine.calls = append(w.engine.calls, o.ID)
		}
	case stop:
		if w.engine != nil && w.engine.turn == e.turn {
			w.engine.stopped = true
		}
	case decide:
		a := e.to.(*asking)
		if a.engine.over {
			return
		}
		if !w.asked[a] {
			w.failf("the engine was answered twice")
		}
		delete(w.asked, a)
		a.engine.waiting = false
		if e.err == nil && (e.decision.Verdict == harness.Allow && a.access != harness.AccessRead || e.decision == harness.Decision{}) {
			w.checkKept(a.engine.turn, "a call was allowed")
		}
	case stand:
		if !slices.Contains(w.rules, e.rule) {
			w.failf("%s holds before it is durable", e.rule.ID)
		}
		w.book = append(w.book, e.rule)
	case mark, rewind:
		if w.filing != nil {
			w.failf("files are worked on twice at once")
		}
		if _, ok := e.(rewind); ok && w.m.state.Turn != nil {
			w.failf("a rewind in turn %s", w.m.state.Turn.ID)
		}
		w.filing = e
	case steer, configure:
	case die:
		w.failf("the machine died: %v", e.err)
	}
}

func (w *world) has(match func(harness.Payload) bool) bool {
	for i := len(w.log) - 1; i >= 0; i-- {
		if match(w.log[i].Payload) {
			return true
		}
	}
	return false
}

// land makes the commit in flight durable.
func (w *world) land() {
	w.log = append(w.log, w.flight.Events...)
	w.rules = append(w.rules, w.flight.Rules...)
	w.flight = nil
}

// crash loses everything but the log, and perhaps the commit in flight.
func (w *world) crash(landed bool) {
	w.note("crash, commit in flight landed: %v", landed)
	w.crashes++
	switch {
	case w.flight != nil && landed:
		w.land()
	case w.flight != nil && len(w.flight.Rules) > 0 && w.rng.IntN(2) == 0: // a rule may be durable before its events
		w.rules = append(w.rules, w.flight.Rules...)
	}
	w.flight, w.engine, w.late, w.filing, w.placed = nil, nil, nil, nil, false
	w.watchers = nil
	clear(w.clients)
	clear(w.asked)
	w.checkPending()
	w.boot()
	w.checkPending()
}

// tools that the model engine calls.
var tools = []string{"bash", "write"}

func fold(log []harness.Event) *harness.State {
	st := new(harness.State)
	for _, e := range log {
		st.Apply(e)
	}
	return st
}
