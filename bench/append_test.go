package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/sqlite"

	"golang.org/x/sys/unix"
)

// appends is what a durable command costs beside the same bytes written at the
// end of a file and flushed, one after the other.
type appends struct{ perAppend, floor time.Duration }

func measureAppends(tb testing.TB, sessions int) appends {
	rounds, n := 5, 200
	if sessions > 1 {
		n = 4000
	}
	if long() {
		rounds = 21
	}
	dir := tb.TempDir()
	st, err := sqlite.Open(context.Background(), filepath.Join(dir, "harness.db"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer st.Close()
	k := kernel.New(st, nil, nil)
	defer k.Close()
	var ids []harness.SessionID
	for i := range sessions {
		id, err := k.Create(context.Background(), harness.NewSession{ID: harness.SessionID(fmt.Sprintf("ses_%d", i))})
		if err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, id)
	}
	raw, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		tb.Fatal(err)
	}
	defer raw.Close()
	line := harness.NewEvent(ids[0], 1, time.Now(), "", &harness.SessionState{MaxTurns: new(1)}).JSON()

	var ours, floor []time.Duration
	for range rounds + 1 {
		floor = append(floor, flushes(tb, raw, line, 200))
		ours = append(ours, commands(tb, k, ids, n))
	}
	return appends{median(ours[1:]), median(floor[1:])}
}

// flushes is the mean time of one write and fdatasync.
func flushes(tb testing.TB, f *os.File, line []byte, n int) time.Duration {
	start := time.Now()
	for range n {
		if _, err := f.Write(line); err != nil {
			tb.Fatal(err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			tb.Fatal(err)
		}
	}
	return time.Since(start) / time.Duration(n)
}

// commands is the time per command when every session has one under way.
func commands(tb testing.TB, k *kernel.Kernel, ids []harness.SessionID, n int) time.Duration {
	var left atomic.Int64
	left.Store(int64(n))
	start := time.Now()
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				cmd := harness.Configure{Patch: harness.ConfigPatch{MaxTurns: new(int(i % 100))}}
				if _, err := k.Do(context.Background(), id, cmd); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start) / time.Duration(n)
}

// BenchmarkAppend is one durable command through the kernel on SQLite. x-flush
// is its cost as a multiple of a bare write and fdatasync; below 1 sessions
// share flushes.
func BenchmarkAppend(b *testing.B) {
	for _, sessions := range []int{1, 64} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			a := durable.get(b, sessions, measureAppends)
			b.ReportMetric(float64(a.perAppend), "ns/op")
			b.ReportMetric(float64(a.floor), "ns-flush")
			b.ReportMetric(float64(a.perAppend)/float64(a.floor), "x-flush")
		})
	}
}
