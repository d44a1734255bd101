// Package metrics counts what a server does and tells Prometheus.
//
// It guarantees that nothing it tells names a session, a user or a text, that
// the number of its series is fixed, and that counting never waits: what costs
// something is looked up when somebody asks, not when it happens.
package metrics

import (
	"context"
	"net/http"
	"sync"
	"time"

	"harness"
)

// Source is where numbers come from that nobody has to count. A nil function is
// a number that the server does not have.
type Source struct {
	Sessions  func(context.Context) (map[harness.Status]int, error) // by status
	Awake     func() int                                            // sessions with a goroutine
	Watchers  map[string]func() int                                 // open connections, by protocol
	Processes func() int                                            // of agents and runners
	Approvals func(context.Context) (int, error)                    // that wait for an answer
	Notices   func() int                                            // that wait for their hooks
}

// Meter counts. It may be used concurrently.
type Meter struct {
	handler http.Handler
	lookup  *lookup
	places  chan struct{} // of those who ask
	events  vector
	append  *histogram
	failed  counter
	asked   counter
	decided vector
	turns   vector
	tokens  vector
	cost    counter
	tripped counter
	notices vector
	spent   sync.Map // of open turns: harness.TurnID to the harness.Usage that was told last
}

// Bounds of asking: a scraper asks once in some seconds.
const (
	maxAskers = 4
	patience  = 10 * time.Second
)

// New tells what it counts, and what src has.
func New(src Source) *Meter {
	var types []string
	for _, info := range harness.Inventory() {
		types = append(types, string(info.Type))
	}
	m := &Meter{
		lookup:  &lookup{src: src},
		places:  make(chan struct{}, maxAskers),
		events:  newVector(types),
		append:  newHistogram(0.0001, 16), // 0.1 ms to 3.3 s
		decided: newVector([]string{"allow", "deny"}, "user", "policy", "timeout", "cascade"),
		turns:   newVector([]string{harness.TurnCompleted, harness.TurnCancelled, harness.TurnError}),
		tokens:  newVector([]string{"input", "output"}),
		notices: newVector([]string{"webhook", "command"}, "delivered", "retrying", "given_up"),
	}
	m.handler = http.TimeoutHandler(http.HandlerFunc(m.serve), patience, "counting takes too long\n")
	return m
}

// ServeHTTP tells everything in Prometheus's text format, to a few at a time.
func (m *Meter) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

func (m *Meter) serve(w http.ResponseWriter, _ *http.Request) {
	select {
	case m.places <- struct{}{}:
		defer func() { <-m.places }()
	default:
		http.Error(w, "others are asking", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(m.page().bytes()) // who is gone needs none
}

func (m *Meter) page() *page {
	p := new(page)
	p.vector("harness_events_total", "Events that became durable, by type; a type that this build does not know is other.", m.events, "type")
	p.histogram("harness_commit_seconds", "How long commits took to become durable.", m.append)
	p.counter("harness_commit_failures_total", "Commits that the store refused or could not write.", &m.failed)
	p.counter("harness_approvals_asked_total", "Approvals that were asked for.", &m.asked)
	p.vector("harness_approvals_decided_total", "Approvals that were decided, by verdict and by who decided.", m.decided, "verdict", "source")
	p.vector("harness_turns_total", "Turns that ended, by how.", m.turns, "status")
	p.vector("harness_model_tokens_total", "Tokens that models read and wrote.", m.tokens, "direction")
	p.counter("harness_budgets_tripped_total", "Times that a session's health policy held it.", &m.tripped)
	p.vector("harness_notices_total", "Attempts to tell hooks something, by what sort of hook it was and what came of it.", m.notices, "hook", "outcome")
	p.counter("harness_model_cost_usd_total", "What that cost, as far as prices are known.", &m.cost)
	m.lookup.tell(p)
	p.golang()
	p.process()
	return p
}

// Told hears of every attempt to tell a hook something.
func (m *Meter) Told(hook, outcome string) {
	m.notices.two(hook, outcome).inc()
}

// Committed hears of every commit and how it went.
func (m *Meter) Committed(c harness.Commit, took time.Duration, err error) {
	if err != nil {
		m.failed.inc()
		return
	}
	m.append.observe(took.Seconds())
	for _, e := range c.Events {
		m.events.one(string(e.Type())).inc()
		m.count(e.Turn, e.Payload)
	}
}

func (m *Meter) count(turn harness.TurnID, p harness.Payload) {
	switch p := p.(type) {
	case *harness.ApprovalRequired:
		m.asked.inc()
	case *harness.ApprovalApplied:
		m.decided.two(string(p.Decision), string(p.Source)).inc()
	case *harness.PolicyDecision:
		if p.Source == "health" {
			m.tripped.inc()
		}
	case *harness.TurnEnd:
		m.spent.Delete(turn)
		m.turns.one(p.Status).inc()
	case *harness.Usage:
		m.use(turn, p)
	}
}

// use counts what a turn has cost since it was last told: what is told is the
// turn so far.
func (m *Meter) use(turn harness.TurnID, p *harness.Usage) {
	var before harness.Usage
	if last, ok := m.spent.Swap(turn, *p); ok {
		before = last.(harness.Usage)
	}
	m.tokens.one("input").add(float64(max(0, p.InputTokens-before.InputTokens)))
	m.tokens.one("output").add(float64(max(0, p.OutputTokens-before.OutputTokens)))
	if p.CostUSD == nil {
		return
	}
	cost := *p.CostUSD
	if before.CostUSD != nil {
		cost -= *before.CostUSD
	}
	m.cost.add(max(0, cost))
}
