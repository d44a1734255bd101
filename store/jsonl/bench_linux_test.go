package jsonl_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"harness"
)

// small is a commit of one event of about 200 bytes.
func small(id harness.SessionID, after harness.Seq) harness.Commit {
	return harness.Commit{
		Session: id, After: after,
		Events: []harness.Event{harness.NewEvent(id, after+1, epoch, "trn_1", &harness.Token{Text: strings.Repeat("x", 60)})},
		Summary: harness.Summary{
			Session: id, User: "ada", Kind: harness.Chat, Status: harness.Running, Seq: after + 1, Created: epoch, Updated: epoch.Add(time.Duration(after) * time.Millisecond),
		},
	}
}

// flush is the floor: how long it takes to write the same bytes at the end of a
// file and make them durable.
func flush(b *testing.B) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	data := small("ses_floor", 1).Events[0].JSON()
	const n = 300
	start := time.Now()
	for range n {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start) / n
}

// BenchmarkAppend is one durable commit of one event, with so many threads
// appending at once. x-flush is its cost as a multiple of a bare write and
// fdatasync in the same run; below 1 the waiting is shared.
func BenchmarkAppend(b *testing.B) {
	for _, threads := range []int{1, 64, 1000} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			st := open(b, filepath.Join(b.TempDir(), ".harness"))
			var heads sync.Map
			var left atomic.Int64
			run := func(n int) {
				left.Store(int64(n))
				var wg sync.WaitGroup
				for i := range threads {
					id := harness.SessionID(fmt.Sprintf("ses_%08d", i))
					wg.Go(func() {
						v, _ := heads.LoadOrStore(id, harness.Seq(0))
						head := v.(harness.Seq)
						for left.Add(-1) >= 0 {
							if err := st.Append(context.Background(), small(id, head)); err != nil {
								b.Error(err)
								return
							}
							head++
						}
						heads.Store(id, head)
					})
				}
				wg.Wait()
			}
			run(threads) // every thread is there
			floor := flush(b)
			b.ReportAllocs()
			b.ResetTimer()
			run(b.N)
			b.StopTimer()
			floor = (floor + flush(b)) / 2
			per := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(per)/float64(floor), "x-flush")
			b.ReportMetric(float64(time.Second)/float64(per), "appends/s")
			b.ReportMetric(float64(floor.Microseconds()), "flush-µs")
		})
	}
}

// BenchmarkCreate is one durable new thread, with so many at once.
func BenchmarkCreate(b *testing.B) {
	for _, abreast := range []int{1, 64} {
		b.Run(fmt.Sprintf("abreast=%d", abreast), func(b *testing.B) {
			st := open(b, filepath.Join(b.TempDir(), ".harness"))
			var next atomic.Int64
			b.ResetTimer()
			var wg sync.WaitGroup
			for range abreast {
				wg.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if err := st.Append(context.Background(), small(harness.SessionID(fmt.Sprintf("ses_%08d", i)), 0)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// BenchmarkRead reads a log of 100,000 events from its beginning, and one event
// from its end.
func BenchmarkRead(b *testing.B) {
	st := open(b, filepath.Join(b.TempDir(), ".harness"))
	const total, batch = 100_000, 100
	for after := harness.Seq(0); after < total; after += batch {
		c := small("a", after)
		for i := harness.Seq(1); i < batch; i++ {
			c.Events = append(c.Events, small("a", after+i).Events...)
		}
		mustAppend(b, st, c)
	}
	for name, after := range map[string]harness.Seq{"all": 0, "last": total - 1, "last-100": total - 100} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := harness.Seq(0)
				for _, err := range st.Read(b.Context(), "a", after) {
					if n++; err != nil {
						b.Fatal(err)
					}
				}
				if n != total-after {
					b.Fatalf("read %d events", n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total-after), "ns/event")
		})
	}
}

// BenchmarkList lists from 10,000 threads of 100 users; first is the list that
// has to read every meta.json.
func BenchmarkList(b *testing.B) {
	dir := filepath.Join(b.TempDir(), ".harness")
	manyThreads(b, dir, 10_000)
	list := func(b *testing.B, st harness.Store, f harness.Filter) {
		for _, err := range st.List(b.Context(), f) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			st := open(b, dir)
			list(b, st, harness.Filter{Limit: 50})
			mustClose(b, st)
		}
	})
	st := open(b, dir)
	for name, f := range map[string]harness.Filter{
		"all":          {},
		"newest-50":    {Limit: 50},
		"user-50":      {User: "user 7", Limit: 50},
		"awaiting":     {Statuses: []harness.Status{harness.AwaitingApproval, harness.Recovering}},
		"one":          {Session: "ses_00004711"},
		"deep-page-50": {Limit: 50, Before: &harness.Summary{Session: "ses_00001000", Updated: time.UnixMilli(1_000_000)}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				list(b, st, f)
			}
		})
	}
}
