package kernel

import (
	"time"

	"harness"
	"harness/health"
	"harness/policy"
)

// machine decides everything a session does. It is not safe for concurrent
// use; its owner calls step for every input, in order, and carries out what
// step returns.
type machine struct {
	limits
	newID func(prefix string) string

	// standing is the rules of the session's directory that hold at this moment,
	// with those it is about to make; nil where rules cannot be kept.
	standing func(made []harness.Rule) []harness.Rule

	// policy is the rules of a file that hold for the session; nil if there are
	// none.
	policy *policy.Policy

	state   *harness.State // everything accepted so far, durable or not
	health  *health.Fold   // likewise
	durable harness.Seq    // where the log ends for sure

	batch  batch // accepted, waits for the append in flight
	flight batch // in the store's hands
	flying bool
	cut    time.Time // when the last append was started

	player    player         // of the next turn
	engine    harness.TurnID // the turn an engine is running; empty if none
	asks      map[harness.CallID]question
	responded harness.ItemID // the item whose response is already in the log
	cancelBy  time.Time      // when a cancelled engine is given up
	draining  bool
	dead      bool
	keep      keeping
	holding   bool // the engine was told to stop, and its turn goes on later
	overspent bool // the engine was told to stop, because its turn may not go on
	curbed    bool // likewise, because the session is full

	followed *harness.Followed // how far the run was read with what is being taken
}

// player is an engine as a session tells of it; the zero value is not known.
type player struct {
	name  string
	lacks *harness.Lacks
}

// limits are the machine's numbers; see Options for what they mean.
type limits struct {
	window          time.Duration
	approvalTimeout time.Duration
	cancelGrace     time.Duration
	maxQueue        int
	backoff         time.Duration
	maxLog          int64
}

// batch is a run of events that become durable together, and what depends on
// that.
type batch struct {
	drafts  []draft
	bytes   int
	urgent  bool // holds more than streamed text
	effects []effect
	rules   []harness.Rule
}

// draft is an event without its encoding. Streamed text grows in text until
// the batch is cut.
type draft struct {
	now     time.Time
	turn    harness.TurnID
	payload harness.Payload
	text    []byte
	streams bool

	followed *harness.Followed
}

// ready is what step wants done: start the append, then carry out the effects.
// What an append made durable was shown before step hears of it.
type ready struct {
	commit  *harness.Commit
	effects []effect
}

// Bounds of one append: large enough that a fast engine never waits for more
// than one sync, small enough that a commit stays one frame for its readers.
const (
	maxBatchEvents = 512
	maxBatchBytes  = 1 << 20
	maxMergedText  = 16 << 10 // a merged token stays well under a frame
)

// newMachine takes over a session whose log adds up to s and ends at s.Seq.
func newMachine(s *harness.State, l limits, newID func(string) string) *machine {
	return &machine{limits: l, newID: newID, state: s, health: healthOf(s), durable: s.Seq, asks: make(map[harness.CallID]question)}
}

// step feeds one input.
func (m *machine) step(now time.Time, in input) ready {
	var r ready
	if m.dead {
		m.refuse(&r, in)
		return r
	}
	switch in := in.(type) {
	case commanded:
		m.command(now, &r, in)
	case emitted:
		m.emit(now, in)
	case asked:
		m.ask(now, &r, in)
	case delegated:
		m.delegate(&r, in)
	case checkpointed:
		m.checkpoint(now, &r, in)
	case ended:
		m.ended(now, in)
	case appended:
		m.appended(&r, in)
	case joined:
		m.join(&r, in)
	case recovered:
		m.recover(now, in.alive)
	case called:
		m.called(now, &r, in)
	case drained:
		m.draining = true
	case ticked:
		m.tick(now)
	case ruled:
		m.ruled(now)
	case marked:
		m.marked(now, in)
	case rewound:
		m.rewound(now, &r, in)
	case tallied:
		m.tallied(now, in)
	}
	m.enforce(now)
	m.curb(now)
	m.settleDown(now)
	m.launch(now, &r)
	return r
}

// launch starts the next append if one is due.
func (m *machine) launch(now time.Time, r *ready) {
	b := &m.batch
	if m.dead || m.flying || len(b.drafts) == 0 && len(b.effects) == 0 {
		return
	}
	if len(b.drafts) == 0 { // only effects, of an append that has just ended
		r.effects = append(r.effects, b.effects...)
		*b = batch{}
		return
	}
	if !b.urgent && !m.full() && len(b.effects) == 0 && now.Before(m.cut.Add(m.window)) {
		return
	}
	c := &harness.Commit{Session: m.state.Session, After: m.durable, Rules: b.rules}
	for i, d := range b.drafts {
		e := harness.NewFollowedEvent(m.state.Session, m.durable+harness.Seq(i)+1, d.now, d.turn, d.final(), d.followed)
		m.weigh(e)
		c.Events = append(c.Events, e)
	}
	c.Summary = m.summary()
	m.flight, m.batch, m.flying, m.cut = *b, batch{}, true, now
	m.flight.drafts = nil
	r.commit = c
}

// appended ends the append in flight: what it made durable may be shown, and
// what depended on it may happen. If it failed nobody knows where the log
// ends, so the machine is done; whoever needs the session loads it again.
func (m *machine) appended(r *ready, in appended) {
	m.flying = false
	if in.err != nil {
		m.dead = true
		for _, e := range append(m.flight.effects, m.batch.effects...) {
			r.effects = append(r.effects, e.refused(in.err)...)
		}
		for _, e := range m.keep.held {
			r.effects = append(r.effects, e.refused(in.err)...)
		}
		if w := m.keep.rewinding; w != nil {
			r.effects = append(r.effects, reply{to: w.from, err: in.err})
		}
		m.keep = keeping{}
		for call, to := range m.asks {
			r.effects = append(r.effects, decide{to: to.from, err: in.err})
			delete(m.asks, call)
		}
		r.effects = append(r.effects, die{in.err})
		return
	}
	if n := len(in.events); n > 0 {
		m.durable = in.events[n-1].Seq
	}
	for _, e := range m.flight.effects {
		if e, ok := e.(start); ok && !m.live(e.turn.ID) {
			continue // the turn was given up before it began
		}
		r.effects = append(r.effects, e)
	}
	m.flight = batch{}
}

// when carries out e once seq is durable.
func (m *machine) when(r *ready, seq harness.Seq, e effect) {
	switch {
	case seq <= m.durable:
		r.effects = append(r.effects, e)
	case m.flying && seq <= m.flightEnd():
		m.flight.effects = append(m.flight.effects, e)
	default:
		m.batch.effects = append(m.batch.effects, e)
	}
}

// join gives a watcher the state as it is now, once that is durable. Text that
// comes later is a new event: the watcher's cursor must not stand inside one.
func (m *machine) join(r *ready, in joined) {
	if n := len(m.batch.drafts); n > 0 {
		m.batch.drafts[n-1].streams = false
	}
	m.when(r, m.state.Seq, snapshot{to: in.from, state: m.copy()})
}

// flightEnd is where the log will end when the append in flight succeeds.
func (m *machine) flightEnd() harness.Seq {
	return m.state.Seq - harness.Seq(len(m.batch.drafts))
}

// then carries out e once everything accepted so far is durable.
func (m *machine) then(e effect) { m.batch.effects = append(m.batch.effects, e) }

// stage accepts a fact: it is part of the state at once and of the log with
// the next append.
func (m *machine) stage(now time.Time, p harness.Payload) harness.Seq {
	turn := harness.TurnID("")
	if m.state.Turn != nil {
		turn = m.state.Turn.ID
	}
	if s, ok := p.(*harness.TurnStart); ok {
		turn = s.TurnID
	}
	text, streams := harness.Streamed(p)
	if b := &m.batch; streams && len(b.drafts) > 0 {
		last := &b.drafts[len(b.drafts)-1]
		if last.streams && last.turn == turn && len(last.text)+len(text) <= maxMergedText && continues(last.payload, p) {
			last.text = append(last.text, text...)
			last.followed = m.followed
			b.bytes += len(text)
			m.fold(m.state.Seq, last.now, turn, p)
			return m.state.Seq
		}
	}
	seq := m.state.Seq + 1
	m.batch.drafts = append(m.batch.drafts, draft{now: now, turn: turn, payload: p, text: []byte(text), streams: streams, followed: m.followed})
	m.batch.bytes += len(text) + 64
	m.batch.urgent = m.batch.urgent || !streams
	m.fold(seq, now, turn, p)
	return seq
}

// fold makes a fact part of the state, exactly as the log will tell it.
func (m *machine) fold(seq harness.Seq, now time.Time, turn harness.TurnID, p harness.Payload) {
	e := harness.Event{Seq: seq, Session: m.state.Session, Turn: turn, Time: now.UTC().Truncate(time.Millisecond), Payload: p, Followed: m.followed}
	m.state.Apply(e)
	m.health.Apply(e)
}

// full reports whether the engine must wait before it may report more.
func (m *machine) full() bool {
	return len(m.batch.drafts) >= maxBatchEvents || m.batch.bytes >= maxBatchBytes
}

// quiet reports whether the session has nothing to do and nothing to wait for:
// it may be forgotten and loaded again.
func (m *machine) quiet() bool {
	if m.dead {
		return true
	}
	if m.flying || len(m.batch.drafts) > 0 || len(m.batch.effects) > 0 || m.engine != "" || m.keep.busy() {
		return false
	}
	for _, a := range m.state.Pending {
		if a.Deadline != nil {
			return false
		}
	}
	return true
}

// stands reports whether the session can only go on when somebody answers it.
// A server that stops does not wait for that: the question is durable, and the
// turn goes on after the next start.
func (m *machine) stands() bool {
	return m.state.Status == harness.AwaitingApproval && !m.flying && !m.keep.busy() && len(m.batch.drafts) == 0 && len(m.batch.effects) == 0
}

// wakeAt is when the machine next wants a tick; zero if it does not.
func (m *machine) wakeAt() time.Time {
	var at time.Time
	earlier := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if !m.flying && len(m.batch.drafts) > 0 {
		earlier(m.cut.Add(m.window))
	}
	for _, a := range m.state.Pending {
		if a.Deadline != nil {
			earlier(*a.Deadline)
		}
	}
	if m.engine != "" {
		earlier(m.cancelBy)
		earlier(m.pulseAt())
	}
	return at
}

// continues reports whether b goes on where a stopped.
func continues(a, b harness.Payload) bool {
	switch a := a.(type) {
	case *harness.Token:
		b, ok := b.(*harness.Token)
		return ok && a.ItemID == b.ItemID
	case *harness.Thinking:
		b, ok := b.(*harness.Thinking)
		return ok && a.ItemID == b.ItemID
	case *harness.ToolLog:
		b, ok := b.(*harness.ToolLog)
		return ok && a.ToolCallID == b.ToolCallID && a.Stream == b.Stream
	}
	return false
}

// final is the payload with all the text that was merged into it. The payload
// itself belongs to the engine and is left alone.
func (d draft) final() harness.Payload {
	switch p := d.payload.(type) {
	case *harness.Token:
		return &harness.Token{ItemID: p.ItemID, Text: string(d.text)}
	case *harness.Thinking:
		return &harness.Thinking{ItemID: p.ItemID, Text: string(d.text)}
	case *harness.ToolLog:
		return &harness.ToolLog{ToolCallID: p.ToolCallID, Stream: p.Stream, Text: string(d.text)}
	}
	return d.payload
}
