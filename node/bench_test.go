package node_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/postgres/postgrestest"

	"github.com/jackc/pgx/v5"
)

// BenchmarkFollow is the way of a token from one node to who watches on another:
// from the call of the append to the update, and from when the append was
// durable.
func BenchmarkFollow(b *testing.B) {
	url := postgrestest.Start(b).URL(b)
	s := setting{script: "stream 100000 20ms word", lease: 10 * time.Second, opts: kernel.Options{Window: -1}}
	a, c := join(b, url, "a", s), join(b, url, "b", s)
	id := a.create(harness.NewSession{})
	var mu sync.Mutex
	begun, durable := map[harness.Seq]time.Time{}, map[harness.Seq]time.Time{}
	a.OnCommit(func(c harness.Commit, took time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range c.Events {
			durable[e.Seq] = time.Now()
			begun[e.Seq] = time.Now().Add(-took)
		}
	})
	a.do(id, submit("go"))
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	seen := map[harness.Seq]time.Time{}
	var first time.Time // what is older was caught up with
	n := max(200, b.N)
	for up, err := range c.Watch(ctx, id, 1) {
		if err != nil {
			break
		}
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		for _, e := range up.Events {
			seen[e.Seq] = now
		}
		if len(seen) > n {
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	var whole, rest []time.Duration
	for seq, at := range seen {
		if from, ok := begun[seq]; ok && from.After(first) {
			whole, rest = append(whole, at.Sub(from)), append(rest, at.Sub(durable[seq]))
		}
	}
	slices.Sort(whole)
	slices.Sort(rest)
	for what, all := range map[string][]time.Duration{"append-to-update": whole, "durable-to-update": rest} {
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), what+"-p50-µs")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), what+"-p99-µs")
	}
}

// BenchmarkDoElsewhere is a command to a session that another node runs: claim
// refused, order, answer.
func BenchmarkDoElsewhere(b *testing.B) {
	for _, where := range []string{"here", "elsewhere"} {
		b.Run(where, func(b *testing.B) {
			url := postgrestest.Start(b).URL(b)
			s := setting{script: "hang", lease: 10 * time.Second, opts: quiet(time.Hour)}
			a, c := join(b, url, "a", s), join(b, url, "b", s)
			id := a.create(harness.NewSession{})
			a.do(id, submit("go"))
			if where == "here" {
				c = a
			}
			title := ""
			for i := 0; b.Loop(); i++ {
				title = fmt.Sprint("title ", i)
				c.do(id, harness.Configure{Title: &title})
			}
		})
	}
}

// BenchmarkIdle is what 10,000 sessions that sleep cost: transactions of the
// database each second, and goroutines and bytes of a node, unwatched and watched.
func BenchmarkIdle(b *testing.B) {
	const sessions, window = 10_000, 10 * time.Second
	url := postgrestest.Start(b).URL(b)
	a, c := join(b, url, "a", setting{lease: 10 * time.Second}), join(b, url, "b", setting{lease: 10 * time.Second})
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	transactions := func() (n int64) {
		if err := conn.QueryRow(b.Context(), "SELECT sum(xact_commit) FROM pg_stat_database").Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	measure := func(what string) {
		time.Sleep(window + 2*time.Second) // sleep: the server counts what was before within 10 s
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		before := transactions()
		time.Sleep(window) // sleep: what is counted is what happens meanwhile
		b.ReportMetric(float64(transactions()-before)/window.Seconds(), what+"-xact/s")
		b.ReportMetric(float64(runtime.NumGoroutine()), what+"-goroutines")
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), what+"-MiB")
	}
	measure("none")
	each := func(f func(id harness.SessionID)) {
		var wg sync.WaitGroup
		for worker := range 100 {
			wg.Go(func() {
				for i := worker; i < sessions; i += 100 {
					f(harness.SessionID(fmt.Sprintf("ses_idle%d", i)))
				}
			})
		}
		wg.Wait()
	}
	each(func(id harness.SessionID) { a.create(harness.NewSession{ID: id}) })
	measure("idle")
	each(func(id harness.SessionID) {
		b.Cleanup(c.Attend(id))
		for range c.WatchAwake(b.Context(), id, 0) {
			continue
		}
	})
	measure("watched")
}
