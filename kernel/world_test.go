package kernel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
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

// checkHealth: what the machine thinks of the session is what its log tells.
func (w *world) checkHealth() {
	if w.flight != nil || len(w.m.batch.drafts) > 0 {
		return
	}
	told := health.New(nil)
	for _, e := range w.log {
		told.Apply(e)
	}
	if got, want := string(w.m.health.AppendJSON(nil)), string(told.AppendJSON(nil)); got != want {
		w.failf("the machine's health is\n%s\nthe log's\n%s", got, want)
	}
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

// checkReleased: no question is left that a rule answers, once the machine has
// looked at the rules.
func (w *world) checkReleased() {
	for _, a := range w.m.state.Pending {
		if rule, ok := policy.Covering(nil, w.m.about(), w.book, a.Tool, a.Input); ok && !w.rung {
			w.failf("%s is pending, though %s stands", a.ID, rule.ID)
		}
	}
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

// legislate makes or revokes a rule, as another session or a person would.
func (w *world) legislate() {
	if n := len(w.book); n > 0 && w.rng.IntN(3) > 0 {
		id := w.book[w.rng.IntN(n)].ID
		w.note("revoke %s", id)
		is := func(r harness.Rule) bool { return r.ID == id }
		w.rules, w.book = slices.DeleteFunc(w.rules, is), slices.DeleteFunc(slices.Clone(w.book), is)
		w.gone = append(w.gone, id)
		return
	}
	tool := tools[w.rng.IntN(len(tools))]
	if _, ok := policy.Covering(nil, policy.Context{Directory: "/w"}, w.rules, tool, nil); ok || !w.ruling() {
		return
	}
	w.ids++
	r := harness.Rule{ID: harness.RuleID(fmt.Sprintf("rul_other%d", w.ids)), Directory: "/w", Tool: tool, Session: "ses_other"}
	w.note("another session makes %s for %s", r.ID, tool)
	w.rules, w.book, w.rung = append(w.rules, r), append(w.book, r), true
}

// tools that the model engine calls.
var tools = []string{"bash", "write"}

// checkAlways: whoever was told that a tool is always allowed can rely on it
// until the rule is revoked, and the log says which rule that is.
func (w *world) checkAlways(at harness.Receipt, cmd harness.Command) {
	a, ok := cmd.(harness.Answer)
	if !ok || a.Decision.Verdict != harness.Allow || a.Decision.Scope != harness.Always {
		return
	}
	p, ok := w.log[at.Seq-1].Payload.(*harness.ApprovalApplied)
	if !ok || p.Scope != harness.Always {
		return // it said again what was decided earlier
	}
	stands := slices.ContainsFunc(w.book, func(r harness.Rule) bool { return r.ID == p.RuleID && r.Tool == p.ToolName })
	if w.ruling() != (p.RuleID != "") || w.ruling() && !stands && !slices.Contains(w.gone, p.RuleID) {
		w.failf("always allowed by %q, which does not stand: %v", p.RuleID, w.book)
	}
}

// checkPending: an approval that is durable and undecided is still pending.
func (w *world) checkPending() {
	open := map[harness.ApprovalID]bool{}
	for _, e := range w.log {
		switch p := e.Payload.(type) {
		case *harness.ApprovalRequired:
			open[p.RequestID] = true
		case *harness.ApprovalApplied:
			if !open[p.RequestID] {
				w.failf("approval %s decided twice or never asked", p.RequestID)
			}
			delete(open, p.RequestID)
		}
	}
	st := fold(w.log)
	for _, a := range st.Pending {
		delete(open, a.ID)
	}
	if len(open) > 0 {
		w.failf("approvals were forgotten: %v", open)
	}
}

func fold(log []harness.Event) *harness.State {
	st := new(harness.State)
	for _, e := range log {
		st.Apply(e)
	}
	return st
}

// act lets one random thing happen.
func (w *world) act() {
	w.now = w.now.Add(time.Duration(w.rng.IntN(12)) * time.Millisecond)
	if w.crashAt >= 0 && w.commits >= w.crashAt && w.flight != nil {
		w.crashAt = -1
		w.crash(w.landed)
		return
	}
	switch n := w.rng.IntN(100); {
	case n >= 80 && n < 88 && w.waits():
		w.callUp()
	case n < 12 && w.filing != nil:
		w.filed()
	case n < 30 && w.flight != nil:
		events := w.flight.Events
		w.land()
		w.step(appended{events: events})
	case n < 60 && w.engine != nil:
		w.engineAct(w.engine)
	case n < 64 && len(w.late) > 0:
		w.engineAct(w.late[w.rng.IntN(len(w.late))])
	case n < 80:
		w.clientAct()
	case n < 84:
		w.step(joined{from: nil})
	case n < 90:
		w.now = w.now.Add(time.Duration(w.rng.IntN(1500)) * time.Millisecond)
		w.step(ticked{})
	case n < 91:
		w.now = w.now.Add(2 * time.Minute)
		w.step(ticked{})
	case n < 92 && w.crashAt == -1 && w.rng.IntN(4) == 0:
		w.crash(w.rng.IntN(2) == 0)
	case n < 94 && w.rung:
		w.rung = false
		w.step(ruled{})
		w.checkReleased()
	case n >= 96:
		w.legislate()
	default:
		w.step(ticked{})
	}
}

func (w *world) clientAct() {
	text := harness.TextPart([]string{"hello", "do it", "日本語 🙂", "x"}[w.rng.IntN(4)])
	key := ""
	if w.rng.IntN(2) == 0 {
		key = fmt.Sprintf("key%d", w.rng.IntN(20))
	}
	var cmd harness.Command
	switch w.rng.IntN(13) {
	case 12:
		cmd = harness.Rewind{Message: "itm_1", DryRun: w.rng.IntN(3) == 0, ClientKey: strings.Replace(key, "key", "rewind", 1)}
	case 0, 1, 2, 3:
		cmd = harness.Submit{Parts: text, ClientKey: key, OnBusy: []harness.OnBusy{"", harness.Reject, harness.Enqueue, harness.Interrupt}[w.rng.IntN(4)], Source: harness.FromResume}
	case 4:
		cmd = harness.Steer{Parts: text, ClientKey: key}
	case 5:
		cmd = harness.Cancel{}
	case 6, 7, 8:
		a := harness.Answer{Decision: harness.Decision{Verdict: harness.Allow, Scope: []harness.Scope{"", harness.Once, harness.Always}[w.rng.IntN(3)]}}
		if w.rng.IntN(8) == 0 {
			a.Decision.Scope = harness.InSession
		}
		if w.rng.IntN(3) == 0 {
			a.Decision.Verdict = harness.Deny
		}
		if p := w.m.state.Pending; len(p) > 0 && w.rng.IntN(5) > 0 {
			a.Approval = p[w.rng.IntN(len(p))].ID
		} else {
			a.Call = harness.CallID(fmt.Sprintf("call%d", w.rng.IntN(6)))
		}
		cmd = a
	case 9:
		mode := []harness.Mode{harness.Normal, harness.Normal, harness.AcceptEdits, "nonsense"}[w.rng.IntN(4)]
		patch := harness.ConfigPatch{PermissionMode: &mode}
		if p := w.bounds(int64(len(w.log))/8 + 1); p != nil && w.rng.IntN(2) == 0 { // a limit is raised
			patch.Health = p.Health
		}
		cmd = harness.Configure{Patch: patch}
	case 10:
		cmd = harness.Pause{}
	case 11:
		cmd = harness.Resume{}
	}
	c := &client{cmd}
	w.clients[c] = true
	w.step(commanded{c, cmd})
}

func (w *world) engineAct(e *modelEngine) {
	if e.waiting && !e.stopped {
		return
	}
	emit := func(p harness.Payload) { w.step(emitted{e.turn, report{payload: p}}) }
	any := func() harness.CallID {
		if len(e.calls) == 0 || w.rng.IntN(8) == 0 {
			return harness.CallID(fmt.Sprintf("call%d", w.rng.IntN(6)))
		}
		return e.calls[w.rng.IntN(len(e.calls))]
	}
	switch n := w.rng.IntN(20); {
	case e.stopped && n < 8, n < 2:
		var err error
		switch {
		case e.stopped:
			err = errors.New("stopped")
		case w.rng.IntN(3) == 0:
			err = errors.New("engine failed")
		}
		w.end(e, err)
	case n < 8:
		emit(&harness.Token{Text: []string{"a", "bc ", "é🙂", ""}[w.rng.IntN(4)]})
	case n < 10:
		emit(&harness.Thinking{Text: "hm "})
	case n < 13:
		e.n++
		id := harness.CallID(fmt.Sprintf("call%d", w.rng.IntN(6)))
		e.calls = append(e.calls, id)
		emit(&harness.ToolCall{ToolCallID: id, Name: "bash", Arguments: []byte(`{"cmd":"ls"}`)})
	case n < 14:
		emit(&harness.ToolLog{ToolCallID: any(), Stream: "stdout", Text: "line\n"})
	case n < 15:
		emit(&harness.ToolResult{ToolCallID: any(), Output: "done"})
	case n < 17:
		emit(&harness.ToolOutcome{ToolCallID: any(), Status: []string{"ok", "error", "timeout", "denied", "artifact"}[w.rng.IntN(5)]})
	case n < 19:
		a := &asking{e, []harness.Access{harness.AccessExecute, harness.AccessRead}[w.rng.IntN(8)/7]}
		w.asked[a] = true
		e.waiting = true
		if w.rng.IntN(8) == 0 {
			w.step(delegated{a, e.turn})
			return
		}
		w.step(asked{a, e.turn, harness.ToolUse{Call: any(), Tool: tools[w.rng.IntN(len(tools))], Access: a.access}})
	default:
		e.waiting = true
		w.step(checkpointed{e, e.turn, "ref"})
	}
}

func (w *world) end(e *modelEngine, err error) {
	e.over = true
	if w.engine == e {
		w.engine = nil
	}
	for i, l := range w.late {
		if l == e {
			w.late = append(w.late[:i:i], w.late[i+1:]...)
			break
		}
	}
	for a := range w.asked {
		if a.engine == e {
			delete(w.asked, a)
		}
	}
	w.step(ended{turn: e.turn, err: err, retry: err != nil && w.rng.IntN(2) == 0})
}

// finish lets everything that is under way end, then checks the whole story.
func (w *world) finish() {
	for i := 0; w.flight != nil || w.engine != nil || len(w.late) > 0 || len(w.m.batch.drafts) > 0 || w.rung || w.filing != nil || w.waits(); i++ {
		if i > 10_000 {
			w.failf("the session never comes to rest")
		}
		w.now = w.now.Add(100 * time.Millisecond)
		switch {
		case w.rung:
			w.rung = false
			w.step(ruled{})
		case w.filing != nil:
			w.filed()
		case w.flight != nil:
			events := w.flight.Events
			w.land()
			w.step(appended{events: events})
		case w.waits():
			w.now = later(w.now, w.m.state.Course.Retry)
			w.callUp()
		case w.engine != nil:
			w.end(w.engine, nil)
		case len(w.late) > 0:
			w.end(w.late[0], nil)
		default:
			w.step(ticked{})
		}
	}
	w.checkReleased()
	for c := range w.clients {
		w.failf("a command was never answered: %+v", c.cmd)
	}
	w.checkLog()
}

func (w *world) checkLog() {
	w.checkPending()
	w.checkMarks()
	ends := map[harness.TurnID]int{}
	outcomes := map[string]int{}
	begun := map[string]bool{}
	var turns []harness.TurnID
	for i, e := range w.log {
		if int(e.Seq) != i+1 {
			w.failf("event %d has seq %d", i+1, e.Seq)
		}
		call := func(id harness.CallID) string { return string(e.Turn) + "/" + string(id) }
		if e.Turn != "" && ends[e.Turn] > 0 {
			w.failf("event %d (%s) after the end of its turn", e.Seq, e.Type())
		}
		switch p := e.Payload.(type) {
		case *harness.TurnStart:
			if p.Attempt == 1 {
				turns = append(turns, p.TurnID)
			}
		case *harness.TurnEnd:
			ends[p.TurnID]++
		case *harness.ToolCall:
			begun[call(p.ToolCallID)] = true
		case *harness.ToolOutcome:
			if outcomes[call(p.ToolCallID)]++; outcomes[call(p.ToolCallID)] > 1 || !begun[call(p.ToolCallID)] {
				w.failf("event %d: call %s has %d outcomes, begun %v", e.Seq, p.ToolCallID, outcomes[call(p.ToolCallID)], begun[call(p.ToolCallID)])
			}
		}
	}
	st := fold(w.log)
	for _, id := range turns {
		if ends[id] == 0 && (st.Turn == nil || st.Turn.ID != id) {
			w.failf("turn %s never ended", id)
		}
	}
	for c := range begun {
		if turn, _, _ := strings.Cut(c, "/"); outcomes[c] == 0 && ends[harness.TurnID(turn)] > 0 {
			w.failf("call %s has no outcome", c)
		}
	}
	w.checkWork()
	if st.Turn != nil && len(st.Pending) == 0 && (st.Status != harness.Paused || w.bounds(1) == nil && !w.alone()) {
		w.failf("at rest in turn %s without a question", st.Turn.ID)
	}
	if st.Turn == nil && len(st.Pending) > 0 {
		w.failf("a question is left without a turn")
	}
	want := string(st.JSON())
	unsealed := w.m.state.Clone()
	if unsealed.Sealed == 0 {
		if got := string(unsealed.JSON()); got != want {
			w.failf("the machine's state is not the fold of its log\ngot  %s\nwant %s", got, want)
		}
	}
	for _, wt := range w.watchers {
		if wt.state.Sealed > 0 {
			continue
		}
		if got := string(wt.state.JSON()); got != want {
			w.failf("a watcher's state is not the fold of the log\ngot  %s\nwant %s", got, want)
		}
	}
	for _, a := range w.acked {
		w.checkAck(a)
	}
}

// checkAck: what was acknowledged is in the log, once.
func (w *world) checkAck(a ack) {
	key, parts := "", 0
	switch c := a.cmd.(type) {
	case harness.Submit:
		key = c.ClientKey
	case harness.Steer:
		key = c.ClientKey
	case harness.Rewind:
		p, ok := w.log[a.receipt.Seq-1].Payload.(*harness.Rewound)
		if !ok && c.ClientKey == "" || ok && c.ClientKey == "" && (p.DryRun != c.DryRun || p.ItemID != a.receipt.Item) {
			w.failf("acknowledged %+v as %+v", a.cmd, w.log[a.receipt.Seq-1].Payload)
		}
		return
	case harness.Answer:
		return
	default:
		return
	}
	if a.receipt.Item == "" {
		w.failf("acknowledged without an item: %+v", a.cmd)
	}
	keyed := 0
	for _, e := range w.log {
		if u, ok := e.Payload.(*harness.UserMessage); ok {
			if u.ItemID == a.receipt.Item {
				parts++
			}
			if key != "" && u.ClientKey == key {
				keyed++
			}
		}
	}
	if parts == 0 || keyed > 1 {
		w.failf("acknowledged %+v: %d messages in the log, %d under its key", a.cmd, parts, keyed)
	}
}

// seeds is how many are played; LONG plays all of them. The race detector sees
// a tenth: a world has one goroutine.
func seeds(short, long int) int {
	switch {
	case os.Getenv("LONG") != "":
		return long
	case race:
		return short / 10
	}
	return short
}

// Random worlds with crashes at random moments keep every promise.
func TestNothingAcknowledgedIsLostInRandomWorlds(t *testing.T) {
	t.Parallel()
	crashes, marks, rewinds := 0, 0, 0
	for seed := range seeds(250, 50_000) {
		w := newWorld(t, uint64(seed))
		for range 250 {
			w.act()
		}
		w.finish()
		crashes += w.crashes
		for _, e := range w.log {
			switch p := e.Payload.(type) {
			case *harness.Rewound:
				rewinds++
			case *harness.SessionCheckpoint:
				if p.Phase == harness.MarkAfter {
					marks++
				}
			}
		}
	}
	t.Logf("%d crashes, %d turns that kept their files, %d rewinds", crashes, marks, rewinds)
	if marks == 0 || rewinds == 0 {
		t.Error("nothing was done about files, so nothing was tested")
	}
}

// A crash at every append boundary, with the commit landed and without, is
// survived by every promise. Most worlds are short: the cost of one is the
// square of its length. With LONG=1 all are long.
func TestCrashAtEveryAppendBoundary(t *testing.T) {
	t.Parallel()
	crashes := 0
	for seed := range seeds(500, 50_000) {
		acts := 70
		if seed%5 != 0 && os.Getenv("LONG") == "" {
			acts = 25
		}
		quiet := newWorld(t, uint64(seed))
		quiet.crashAt = 1 << 30
		for range acts {
			quiet.act()
		}
		for at := 1; at <= quiet.commits; at++ {
			for _, landed := range []bool{false, true} {
				w := newWorld(t, uint64(seed))
				w.crashAt, w.landed = at, landed
				for range acts {
					w.act()
				}
				w.finish()
				crashes += w.crashes
			}
		}
	}
	t.Logf("%d crashes", crashes)
}

// The same seed tells the same story: otherwise a failure could not be
// repeated.
func TestTheWorldRepeatsItself(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(20, 50)) {
		var logs [2]string
		for i := range logs {
			w := newWorld(t, seed)
			for range 200 {
				w.act()
			}
			w.finish()
			for _, e := range w.log {
				logs[i] += string(e.JSON()) + "\n"
			}
		}
		if logs[0] != logs[1] {
			t.Fatalf("seed %d told two stories", seed)
		}
	}
}
