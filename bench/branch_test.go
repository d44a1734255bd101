package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/sqlite"
)

// branching is what a branch costs, by the length of the source's history, and
// what travelling to any place of it does.
type branching struct {
	end, anywhere, state map[int]time.Duration // medians: branched at the last event, at any; the state at any
	grown                float64               // bytes that a branch of the longest adds to the database
	handed               float64               // bytes of its own events
}

// measureBranch branches sessions on SQLite. Bytes written are what the database
// file has grown by, divided by the branches, when the store is closed and so
// its write-ahead log is in it: pages are written whole, before and after, for
// any change of any length, so what stays is what a branch writes.
func measureBranch(tb testing.TB, _ struct{}) branching {
	path := filepath.Join(tb.TempDir(), "harness.db")
	open := func() *sqlite.Store {
		st, err := sqlite.Open(context.Background(), path, nil)
		if err != nil {
			tb.Fatal(err)
		}
		return st
	}
	few, many := lengths[0], lengths[len(lengths)-1]
	st := open()
	for _, n := range []int{few, many} {
		if err := fill(st, shelved(n), n, 24); err != nil {
			tb.Fatal(err)
		}
	}
	b := branching{map[int]time.Duration{}, map[int]time.Duration{}, map[int]time.Duration{}, 0, 0}
	st = b.times(tb, st, []int{few, many})
	before := size(tb, st, path)

	const made = 2000
	st = open()
	k := kernel.New(st, nil, &kernel.Options{Engine: "bench"})
	for i := range made {
		id := branch(tb, k, fmt.Sprintf("ses_b%d", i), shelved(many), 0)
		if i == 0 {
			b.handed = handed(tb, k, id, harness.Seq(many))
		}
	}
	k.Close()
	b.grown = float64(size(tb, st, path)-before) / made
	return b
}

// times measures the medians, taking turns.
func (b branching) times(tb testing.TB, st *sqlite.Store, lengths []int) *sqlite.Store {
	rounds := 101
	if long() {
		rounds = 501
	}
	k := kernel.New(st, nil, &kernel.Options{Engine: "bench"})
	defer k.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	end, anywhere, state := map[int][]time.Duration{}, map[int][]time.Duration{}, map[int][]time.Duration{}
	took := func(to map[int][]time.Duration, n int, f func()) {
		start := time.Now()
		f()
		to[n] = append(to[n], time.Since(start))
	}
	for i := range rounds {
		for _, n := range lengths {
			took(end, n, func() { branch(tb, k, fmt.Sprintf("ses_e%d_%d", i, n), shelved(n), 0) })
			at := harness.Seq(1 + rng.IntN(n))
			took(anywhere, n, func() { branch(tb, k, fmt.Sprintf("ses_a%d_%d", i, n), shelved(n), at) })
			took(state, n, func() {
				if got, err := k.At(context.Background(), shelved(n), at); err != nil || got.Seq != at {
					tb.Fatal(got, err)
				}
			})
		}
	}
	for _, n := range lengths {
		b.end[n], b.anywhere[n], b.state[n] = median(end[n]), median(anywhere[n]), median(state[n])
	}
	return st
}

func branch(tb testing.TB, k *kernel.Kernel, id string, from harness.SessionID, at harness.Seq) harness.SessionID {
	b, err := k.Create(context.Background(), harness.NewSession{ID: harness.SessionID(id), From: &harness.Branch{Session: from, Seq: at}})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// handed is the bytes of a new branch's own events.
func handed(tb testing.TB, k *kernel.Kernel, id harness.SessionID, after harness.Seq) float64 {
	n := 0
	for e, err := range k.Read(context.Background(), id, after) {
		if err != nil {
			tb.Fatal(err)
		}
		if e.Session == id {
			n += len(e.JSON())
		}
	}
	return float64(n)
}

// size closes the store and returns its file's length.
func size(tb testing.TB, st *sqlite.Store, path string) int64 {
	if err := st.Close(); err != nil {
		tb.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	return info.Size()
}

// BenchmarkBranch is Create with a branch point, on SQLite with full sync.
func BenchmarkBranch(b *testing.B) {
	for _, n := range []int{lengths[0], lengths[len(lengths)-1]} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			m := branches.get(b, struct{}{}, measureBranch)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(m.end[n].Microseconds()), "µs")
			b.ReportMetric(float64(m.end[n])/float64(m.end[lengths[0]]), "x-1k")
			b.ReportMetric(float64(m.anywhere[n].Microseconds()), "anywhere-µs")
			b.ReportMetric(float64(m.state[n].Microseconds()), "state-at-µs")
			b.ReportMetric(m.grown, "B/branch")
			b.ReportMetric(m.handed, "event-B/branch")
		})
	}
}
