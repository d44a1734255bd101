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

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

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
	registry *prometheus.Registry
	handler  http.Handler
	events   *prometheus.CounterVec
	append   prometheus.Histogram
	failed   prometheus.Counter
	asked    prometheus.Counter
	decided  *prometheus.CounterVec
	turns    *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	cost     prometheus.Counter
	tripped  prometheus.Counter
	notices  *prometheus.CounterVec
	spent    sync.Map // of open turns: harness.TurnID to the harness.Usage that was told last
}

// New tells what it counts, and what src has.
func New(src Source) *Meter {
	m := &Meter{
		registry: prometheus.NewRegistry(),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "harness_events_total", Help: "Events that became durable, by type; a type that this build does not know is other.",
		}, []string{"type"}),
		append: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "harness_commit_seconds", Help: "How long commits took to become durable.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16), // 0.1 ms to 3.3 s
		}),
		failed:  prometheus.NewCounter(prometheus.CounterOpts{Name: "harness_commit_failures_total", Help: "Commits that the store refused or could not write."}),
		asked:   prometheus.NewCounter(prometheus.CounterOpts{Name: "harness_approvals_asked_total", Help: "Approvals that were asked for."}),
		decided: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "harness_approvals_decided_total", Help: "Approvals that were decided, by verdict and by who decided."}, []string{"verdict", "source"}),
		turns:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "harness_turns_total", Help: "Turns that ended, by how."}, []string{"status"}),
		tokens:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "harness_model_tokens_total", Help: "Tokens that models read and wrote."}, []string{"direction"}),
		tripped: prometheus.NewCounter(prometheus.CounterOpts{Name: "harness_budgets_tripped_total", Help: "Times that a session's health policy held it."}),
		notices: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "harness_notices_total", Help: "Attempts to tell hooks something, by what sort of hook it was and what came of it."}, []string{"hook", "outcome"}),
		cost:    prometheus.NewCounter(prometheus.CounterOpts{Name: "harness_model_cost_usd_total", Help: "What that cost, as far as prices are known."}),
	}
	m.registry.MustRegister(m.tripped, m.notices, m.events, m.append, m.failed, m.asked, m.decided, m.turns, m.tokens, m.cost, src.collector(),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
	return m
}

// ServeHTTP tells everything in Prometheus's text format, to a few at a time.
func (m *Meter) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// Told hears of every attempt to tell a hook something.
func (m *Meter) Told(hook, outcome string) {
	m.notices.WithLabelValues(word(hook, "webhook", "command"), word(outcome, "delivered", "retrying", "given_up")).Inc()
}

// Committed hears of every commit and how it went.
func (m *Meter) Committed(c harness.Commit, took time.Duration, err error) {
	if err != nil {
		m.failed.Inc()
		return
	}
	m.append.Observe(took.Seconds())
	for _, e := range c.Events {
		name := string(e.Type())
		if _, known := harness.Lookup(e.Type()); !known {
			name = "other"
		}
		m.events.WithLabelValues(name).Inc()
		m.count(e.Turn, e.Payload)
	}
}

func (m *Meter) count(turn harness.TurnID, p harness.Payload) {
	switch p := p.(type) {
	case *harness.ApprovalRequired:
		m.asked.Inc()
	case *harness.ApprovalApplied:
		m.decided.WithLabelValues(word(string(p.Decision), "allow", "deny"), word(string(p.Source), "user", "policy", "timeout", "cascade")).Inc()
	case *harness.PolicyDecision:
		if p.Source == "health" {
			m.tripped.Inc()
		}
	case *harness.TurnEnd:
		m.spent.Delete(turn)
		m.turns.WithLabelValues(word(p.Status, harness.TurnCompleted, harness.TurnCancelled, harness.TurnError)).Inc()
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
	m.tokens.WithLabelValues("input").Add(float64(max(0, p.InputTokens-before.InputTokens)))
	m.tokens.WithLabelValues("output").Add(float64(max(0, p.OutputTokens-before.OutputTokens)))
	if p.CostUSD == nil {
		return
	}
	cost := *p.CostUSD
	if before.CostUSD != nil {
		cost -= *before.CostUSD
	}
	m.cost.Add(max(0, cost))
}

// word is s if it is one of those that are known: labels come from a fixed set.
func word(s string, known ...string) string {
	for _, k := range known {
		if s == k {
			return s
		}
	}
	return "other"
}
