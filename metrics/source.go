package metrics

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"harness"
)

// recount is how old the number of sessions may be: counting them reads an
// index, and whoever asks more often learns nothing new.
const recount = 5 * time.Second

// lookup asks a Source when somebody asks.
type lookup struct {
	src Source

	mu      sync.Mutex // guards what follows
	counts  map[harness.Status]int
	pending int
	err     error
	at      time.Time
}

// tell adds what the source has to say.
func (l *lookup) tell(p *page) {
	if l.src.Awake != nil {
		p.gauge("harness_sessions_awake", "Sessions that have a goroutine now.", float64(l.src.Awake()))
	}
	var open []sample
	for _, name := range slices.Sorted(maps.Keys(l.src.Watchers)) {
		open = append(open, sample{labelled([]string{"protocol"}, name), float64(l.src.Watchers[name]())})
	}
	p.add("harness_watchers", aGauge, "Open connections, by protocol.", open...)
	if l.src.Processes != nil {
		p.gauge("harness_processes", "Processes of runners and agents.", float64(l.src.Processes()))
	}
	if l.src.Notices != nil {
		p.gauge("harness_notices_waiting", "Notices that their hooks have not taken yet.", float64(l.src.Notices()))
	}
	if l.src.Sessions == nil {
		return
	}
	counts, pending, err := l.sessions()
	uncounted := 0.0
	if err != nil {
		uncounted = 1
	}
	p.gauge("harness_sessions_uncounted", "1 if the store could not count its sessions.", uncounted)
	if err != nil {
		return
	}
	var all []sample
	for _, status := range harness.Statuses() {
		all = append(all, sample{labelled([]string{"status"}, string(status)), float64(counts[status])})
	}
	p.add("harness_sessions", aGauge, "Sessions, by status.", all...)
	if l.src.Approvals != nil {
		p.gauge("harness_approvals_waiting", "Approvals that nobody has answered.", float64(pending))
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
