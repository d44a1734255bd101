package bench

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/store/jsonl"
)

// pages is what a page of 100 costs the client of harness stdio, where there
// is little and where there is much. Medians.
type pages struct {
	listFew, listMany time.Duration // the newest of 1,000 threads, and of 10,000
	listAll           time.Duration // all of 10,000 at once
	listFirst         time.Duration // the newest of 10,000, from exec: every meta.json is read
	turnFew, turnMany time.Duration // each of a thread of 1,000 events read page by page, and of 100,000
	jumpFew, jumpMany time.Duration // one out of the blue, anywhere in these
}

// The sizes of little and much, and of a page.
const (
	fewThreads, manyThreads = 1_000, 10_000
	fewEvents, manyEvents   = 1_000, 100_000
	pageSize                = 100
)

func measurePages(tb testing.TB, _ struct{}) pages {
	bin := buildHarness(tb)
	few, many := tb.TempDir(), tb.TempDir()
	shelve(tb, few, fewThreads)
	shelve(tb, many, manyThreads)
	var p pages
	var first []time.Duration
	for range 5 {
		a := startStdio(tb, bin, many)
		a.call("thread.list", fmt.Sprintf(`{"limit":%d}`, pageSize))
		first = append(first, time.Since(a.started))
		a.end()
	}
	p.listFirst = median(first)
	a, b := startStdio(tb, bin, few), startStdio(tb, bin, many)
	defer a.end()
	defer b.end()
	list := fmt.Sprintf(`{"limit":%d}`, pageSize)
	p.listFew, p.listMany = alternate(200, func() { a.call("thread.list", list) }, func() { b.call("thread.list", list) })
	jump := func(events int) func() {
		at := 0
		return func() {
			at = (at + events/8) % events
			b.call("thread.get", fmt.Sprintf(`{"threadId":%q,"after":%d,"limit":%d}`, shelved(events), at, pageSize))
		}
	}
	p.jumpFew, p.jumpMany = alternate(40, jump(fewEvents), jump(manyEvents))
	p.listAll, _ = alternate(9, func() { b.call("thread.list", `{}`) }, func() {})
	var turnFew, turnMany []time.Duration
	for range 5 {
		for range 10 {
			turnFew = append(turnFew, b.getAll(shelved(fewEvents)))
		}
		turnMany = append(turnMany, b.getAll(shelved(manyEvents)))
	}
	p.turnFew, p.turnMany = median(turnFew), median(turnMany)
	return p
}

// shelve writes so many threads into the directory: two with a history, the
// others with their first event.
func shelve(tb testing.TB, dir string, threads int) {
	tb.Helper()
	ctx := context.Background()
	st, err := jsonl.Open(ctx, filepath.Join(dir, ".harness"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer st.Close()
	for _, n := range []int{fewEvents, manyEvents} {
		if err := fill(st, shelved(n), n, 24); err != nil {
			tb.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	const writers = 64 // they share flushes
	for w := range writers {
		wg.Go(func() {
			for i := w; i < threads-2; i += writers {
				if err := st.Append(ctx, shelvedThread(i)); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// shelvedThread is made a minute after the one before it.
func shelvedThread(i int) harness.Commit {
	id := harness.SessionID(fmt.Sprintf("ses_shelf%05d", i))
	e := harness.NewEvent(id, 1, time.UnixMilli(0).Add(time.Duration(i)*time.Minute), "", &harness.SessionState{SessionID: id, Status: harness.Idle, Kind: harness.Chat, Engine: "script"})
	var s harness.State
	s.Apply(e)
	return harness.Commit{Session: id, Events: []harness.Event{e}, Summary: s.Summary()}
}

// alternate times two things in turns and returns their medians.
func alternate(rounds int, one, other func()) (time.Duration, time.Duration) {
	var ones, others []time.Duration
	for range rounds {
		start := time.Now()
		one()
		between := time.Now()
		other()
		ones, others = append(ones, between.Sub(start)), append(others, time.Since(between))
	}
	return median(ones), median(others)
}

// call sends a request and returns its answer.
func (a *agent) call(method, params string) []byte {
	a.tb.Helper()
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params))
	line := a.until(`"id":7,`)
	if !bytes.Contains(head(line), []byte(`"result"`)) {
		a.tb.Fatalf("%s: %s", method, line)
	}
	return line
}

// getAll reads a thread page by page and returns what a full one took on
// average.
func (a *agent) getAll(id harness.SessionID) time.Duration {
	a.tb.Helper()
	start, after, got := time.Now(), 0, 0
	for {
		answer := a.call("thread.get", fmt.Sprintf(`{"threadId":%q,"after":%d,"limit":%d}`, id, after, pageSize))
		got += bytes.Count(answer, []byte(`"notification":`))
		i := bytes.LastIndex(answer, []byte(`"next":`))
		if i < 0 {
			return time.Since(start) * pageSize / time.Duration(got)
		}
		if _, err := fmt.Sscanf(string(answer[i:]), `"next":%d`, &after); err != nil {
			a.tb.Fatalf("%s: %v", answer[i:], err)
		}
	}
}

// BenchmarkStdioPages is thread.list and thread.get over a shelf of threads.
func BenchmarkStdioPages(b *testing.B) {
	p := stdioPages.get(b, struct{}{}, measurePages)
	b.ReportMetric(0, "ns/op")
	ms := func(d time.Duration, name string) { b.ReportMetric(float64(d.Microseconds())/1000, name+"-ms") }
	ms(p.listFew, "list-100-of-1k")
	ms(p.listMany, "list-100-of-10k")
	ms(p.listAll, "list-10k")
	ms(p.listFirst, "exec-to-list-100-of-10k")
	ms(p.turnFew, "turn-100-of-1k")
	ms(p.turnMany, "turn-100-of-100k")
	ms(p.jumpFew, "jump-100-of-1k")
	ms(p.jumpMany, "jump-100-of-100k")
	b.ReportMetric(float64(p.listMany)/float64(p.listFew), "list-x")
	b.ReportMetric(float64(p.turnMany)/float64(p.turnFew), "turn-x")
	b.ReportMetric(float64(p.jumpMany)/float64(p.jumpFew), "jump-x")
}
