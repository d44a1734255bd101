package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
	"harness/internal/socket"
	"harness/kernel"
	"harness/store/memory"
)

// usage is what a process holds.
type usage struct{ goroutines, descriptors, heap int }

func used(t testing.TB) usage {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return usage{runtime.NumGoroutine(), len(files), int(m.HeapAlloc)}
}

// Streams that have all there is, of sessions that sleep, are rows: no
// goroutine, no bytes held for them.
func TestIdleStreamsHaveNoGoroutines(t *testing.T) {
	n := 400
	if full() {
		n = 8000 // both ends of more are not allowed in one process
	}
	h := build(t, memory.New(), "echo", kernel.Options{}, feedOptions{})
	var all []*listener
	open := func(n int) {
		for range n {
			id := h.create("")
			h.submit(id, "hi")
			l := h.listen(string(id))
			l.until("turn_end")
			all = append(all, l)
		}
		h.asleep()
	}
	open(20) // what the first ones make for all
	before := used(t)
	open(n)
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before.goroutines })
	h.feeds.each(func(r *room) {
		for _, w := range r.streams {
			if w.rest != nil || w.lane != nil || w.queued || r.live != nil || r.feeding() {
				t.Errorf("a stream of %s holds something", r.id)
			}
		}
	})
	if h.feeds.srv.Len() != len(all) || h.k.Awake() != 0 {
		t.Errorf("%d streams, %d sessions awake", h.feeds.srv.Len(), h.k.Awake())
	}
	for i, l := range all {
		if i%10 == 0 { // and they are alive
			h.submit(harness.SessionID(l.path), "again")
			l.until("turn_end")
		}
	}
}

// A stream that is pinged stays at its place.
func TestIdleStreamsArePinged(t *testing.T) {
	t.Parallel()
	h := build(t, memory.New(), "echo", kernel.Options{}, feedOptions{Socket: socket.Options{PingAfter: 30 * time.Millisecond}})
	id := h.create("")
	l := h.listen(string(id))
	l.must()
	for range 3 {
		for _, want := range []string{": ping\n", "\n"} {
			if line, err := l.br.ReadString('\n'); line != want || err != nil {
				t.Fatalf("line %q, %v", line, err)
			}
		}
	}
	h.submit(id, "hi")
	l.until("turn_end")
}

// Readers that come and go abruptly while sessions talk leave nothing behind,
// and the writers finish.
func TestLoadLeavesNothingBehind(t *testing.T) {
	readers, writers, length := 100, 20, 2*time.Second
	if full() {
		readers, writers, length = 1000, 100, time.Minute
	}
	h := build(t, memory.New(), chatter(30, "1ms"), kernel.Options{IdleAfter: 5 * time.Millisecond}, feedOptions{})
	ids := make([]harness.SessionID, writers)
	for i := range ids {
		ids[i] = h.create("")
	}
	before := used(t)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var wg sync.WaitGroup
	var told, streams, turns atomic.Int64
	for i := range writers {
		wg.Go(func() {
			for ctx.Err() == nil {
				r := h.submit(ids[i], "go")
				l, err := listen(quiet{t}, h.addr, fmt.Sprintf("%s?turn=%s&after=%d", ids[i], r.Turn, r.Seq), "")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, l.br); err != nil {
					t.Error(err)
				}
				l.nc.Close()
				turns.Add(1)
			}
		})
	}
	choices := map[string]filter{"": everything, "?tier=default": tierBits[harness.Default], "?types=token": kindBits["token"]}
	for i := range readers {
		rnd := rand.New(rand.NewPCG(uint64(i), 3))
		wg.Go(func() {
			for ctx.Err() == nil {
				id := ids[rnd.IntN(len(ids))]
				query := slices.Sorted(maps.Keys(choices))[rnd.IntN(len(choices))]
				sum, err := h.feeds.summary(context.Background(), id)
				if err != nil {
					t.Error(err)
					return
				}
				l, err := listen(quiet{t}, h.addr, string(id)+query, "")
				if err != nil {
					t.Error(err)
					return
				}
				streams.Add(1)
				stop := context.AfterFunc(ctx, func() { l.nc.SetDeadline(time.Unix(1, 0)) })
				if rnd.IntN(4) > 0 { // else it reads nothing
					last := 0
					for range rnd.IntN(600) {
						e, err := l.next()
						if ctx.Err() != nil {
							break
						}
						if errors.Is(err, os.ErrDeadlineExceeded) { // too little is said; but not too little told
							for _, e := range h.log(id, choices[query]) {
								if seq := number(e.id); seq > last && seq <= int(sum.Seq) {
									t.Errorf("event %d of %d in %s%s was not told within %v", seq, sum.Seq, id, query, soon)
									break
								}
							}
							break
						}
						if err != nil {
							t.Error(err)
							break
						}
						if seq := number(e.id); seq <= last {
							t.Errorf("event %d behind %d", seq, last)
						} else {
							last = seq
						}
						told.Add(1)
					}
				}
				stop()
				if rnd.IntN(2) == 0 {
					l.nc.(*net.TCPConn).SetLinger(0)
				}
				l.nc.Close()
			}
		})
	}
	wg.Wait()
	eventually(t, "streams and rooms are gone", func() bool { return h.feeds.srv.Len() == 0 && h.feeds.count() == 0 })
	h.asleep()
	for _, id := range ids { // what the store keeps is not what streams leave
		if err := h.k.Remove(context.Background(), id); err != nil {
			t.Fatal(err)
		}
	}
	var after usage
	eventually(t, "goroutines and descriptors are as before", func() bool {
		after = used(t)
		return after.goroutines <= before.goroutines && after.descriptors <= before.descriptors
	})
	t.Logf("%d streams, %d events told, %d turns; %+v before, %+v after", streams.Load(), told.Load(), turns.Load(), before, after)
	if after.heap > before.heap+4<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before.heap, after.heap)
	}
}

// quiet is a test that forgets what is to be cleaned up: the connections of
// those who come and go close by themselves.
type quiet struct{ testing.TB }

func (quiet) Cleanup(func()) {}
