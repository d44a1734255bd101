package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"harness"
)

// recount is how old the number of sessions may be: counting them reads an
// index, and whoever asks more often learns nothing new.
const recount = 5 * time.Second

var (
	sessions  = prometheus.NewDesc("harness_sessions", "Sessions, by status.", []string{"status"}, nil)
	awake     = prometheus.NewDesc("harness_sessions_awake", "Sessions that have a goroutine now.", nil, nil)
	watchers  = prometheus.NewDesc("harness_watchers", "Open connections, by protocol.", []string{"protocol"}, nil)
	processes = prometheus.NewDesc("harness_processes", "Processes of runners and agents.", nil, nil)
	approvals = prometheus.NewDesc("harness_approvals_waiting", "Approvals that nobody has answered.", nil, nil)
	notices   = prometheus.NewDesc("harness_notices_waiting", "Notices that their hooks have not taken yet.", nil, nil)
	uncounted = prometheus.NewDesc("harness_sessions_uncounted", "1 if the store could not count its sessions.", nil, nil)
)

// lookup asks a Source when somebody asks.
type lookup struct {
	src Source

	mu      sync.Mutex // guards what follows
	counts  map[harness.Status]int
	pending int
	err     error
	at      time.Time
}

func (s Source) collector() prometheus.Collector { return &lookup{src: s} }

func (l *lookup) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sessions, awake, watchers, processes, approvals, notices, uncounted} {
		out <- d
	}
}

func (l *lookup) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, n int, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	if l.src.Awake != nil {
		gauge(awake, l.src.Awake())
	}
	for name, n := range l.src.Watchers {
		gauge(watchers, n(), name)
	}
	if l.src.Processes != nil {
		gauge(processes, l.src.Processes())
	}
	if l.src.Notices != nil {
		gauge(notices, l.src.Notices())
	}
	if l.src.Sessions == nil {
		return
	}
	counts, pending, err := l.sessions()
	if err != nil {
		gauge(uncounted, 1)
		return
	}
	gauge(uncounted, 0)
	for _, status := range harness.Statuses() {
		gauge(sessions, counts[status], string(status))
	}
	if l.src.Approvals != nil {
		gauge(approvals, pending)
	}
}

// sessions counts them and what they wait for, unless that was done a moment ago.
func (l *lookup) sessions() (map[harness.Status]int, int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.at.IsZero() || now.Sub(l.at) >= recount {
		ctx, cancel := context.WithTimeout(context.Background(), recount)
		defer cancel()
		l.counts, l.err = l.src.Sessions(ctx)
		if l.src.Approvals != nil && l.err == nil {
			l.pending, l.err = l.src.Approvals(ctx)
		}
		l.at = now
	}
	return l.counts, l.pending, l.err
}
