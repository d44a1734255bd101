package delta_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
	"harness/internal/socket"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

var saysIdle = []byte(`{"type":"set","path":["status"],"value":"idle"}`)

// untilIdle reads until a turn has ended with so many messages, and looks at
// the state only when it may have.
func (r *raw) untilIdle(c *client, messages int) {
	r.t.Helper()
	for {
		b := r.text()
		if err := c.take(b); err != nil {
			r.t.Fatal(err)
		}
		if bytes.Contains(b, saysIdle) || c.kinds[len(c.kinds)-1] == "state" {
			if s := c.state(); idle(s) && len(s.Messages) == messages {
				return
			}
		}
	}
}

// torrent is a turn of 20,000 tokens and 1.3 MB at a pace; the race detector
// gets the same bytes in fewer tokens.
func torrent(pace string) string {
	if underRace {
		return "stream 2500 " + pace + " " + strings.Repeat("x", 512) + "\n"
	}
	return "stream 20000 " + pace + " " + strings.Repeat("x", 64) + "\n"
}

// untilLike reads until a client sees what st shows. It compares only near the
// end of the log, the last few events of which may be nothing to see.
func (r *raw) untilLike(c *client, st *harness.State) {
	r.t.Helper()
	want := shown(r.t, st, 0)
	for c.seq+8 < uint64(st.Seq) || sorted(r.t, c.json()) != want {
		if err := c.take(r.text()); err != nil {
			r.t.Errorf("after %v: %v", lasting(c.kinds), err)
			return
		}
	}
}

// patient are settings that wait for a watcher however long it does not read.
var patient = &delta.Options{Socket: socket.Options{StallAfter: -1}}

// A watcher that reads 1 kB/s and those that read nothing cost the others
// nothing, cost the server little, and when they read they have the truth.
func TestSlowWatchersSlowNobody(t *testing.T) {
	const stalled = 20
	sv := serveOn(t, memory.New(), torrent("1us"), &kernel.Options{Window: -1}, patient)
	var largest atomic.Int64
	turn := func(id string) time.Duration {
		fast := make([]*raw, 4)
		for i := range fast {
			fast[i] = sv.raw("?sessionId="+id, 0)
		}
		begin := time.Now()
		sv.submit(id, "go")
		var wg sync.WaitGroup
		for _, r := range fast {
			wg.Go(func() {
				c := r.client()
				r.untilIdle(c, 2)
				for n := largest.Load(); int64(c.largest) > n && !largest.CompareAndSwap(n, int64(c.largest)); n = largest.Load() {
				}
				if got, want := sorted(t, c.json()), shown(t, sv.truth(id), 0); got != want {
					t.Errorf("a fast watcher sees %s", around(got, want))
				}
			})
		}
		wg.Wait()
		return time.Since(begin)
	}
	without := turn(sv.create(""))

	id := sv.create("")
	var slow []*raw
	for range stalled + 1 {
		slow = append(slow, sv.raw("?sessionId="+id, 32<<10))
	}
	trickle, stop := slow[0], make(chan struct{})
	var wg sync.WaitGroup
	var taken bytes.Buffer
	wg.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				io.CopyN(&taken, trickle.br, 100)
			case <-stop:
				return
			}
		}
	})
	before := heap()
	with := turn(id)
	grown := heap() - before
	rings, private := sv.hub.Held()
	t.Logf("20,000 tokens to 4 watchers: %v alone, %v with %d that do not read; %d kB of frames shared, %d B of its own for each; the heap grew by %d kB",
		without, with, stalled+1, rings>>10, private/(stalled+1), grown>>10)
	if with > 3*without+200*time.Millisecond {
		t.Errorf("slow watchers slowed the others from %v to %v", without, with)
	}
	if n := sv.hub.Blocked(); n != stalled+1 {
		t.Errorf("%d watchers are blocked, want %d", n, stalled+1)
	}
	if rings > 4<<20 || private > (stalled+1)*int(largest.Load()) { // at most the frame in flight
		t.Errorf("%d bytes of frames are kept, and %d for %d watchers alone", rings, private, stalled+1)
	}
	close(stop)
	wg.Wait()
	trickle.br.Reset(io.MultiReader(&taken, bytes.NewReader(drain(trickle)), trickle.nc))
	st := sv.truth(id)
	for _, r := range slow {
		wg.Go(func() {
			c := r.client()
			r.untilLike(c, st)
			if n := c.count("state"); n > 3 {
				t.Errorf("a slow watcher was sent %d states", n)
			}
		})
	}
	wg.Wait()
}

// drain is what a reader has buffered.
func drain(r *raw) []byte {
	b, _ := r.br.Peek(r.br.Buffered())
	return bytes.Clone(b)
}

// A watcher that is behind when its session goes to sleep gets a state from
// the store when it reads again, and the session sleeps on.
func TestASlowWatcherCatchesUpWithASleepingSession(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), torrent("0s"), &kernel.Options{IdleAfter: time.Millisecond, Window: -1}, nil)
	id := sv.create("")
	var all []*raw
	for range 8 {
		all = append(all, sv.raw("?sessionId="+id, 32<<10))
	}
	sv.submit(id, "go")
	sv.asleep()
	if rings, _ := sv.hub.Held(); rings != 0 {
		t.Errorf("a sleeping session keeps %d bytes of frames", rings)
	}
	st := sv.truth(id)
	var wg sync.WaitGroup
	for _, r := range all {
		wg.Go(func() { r.untilLike(r.client(), st) })
	}
	wg.Wait()
	if sv.k.Awake() != 0 {
		t.Error("a watcher that catches up woke the session")
	}
	sv.asleep()
}

func TestADeadWatcherIsFoundAndFreed(t *testing.T) {
	t.Parallel()
	opts := &delta.Options{Socket: socket.Options{PingAfter: 200 * time.Millisecond, DeadAfter: 2 * time.Second, StallAfter: 500 * time.Millisecond}}
	sv := serveOn(t, memory.New(), torrent("0s"), nil, opts)
	id, quiet := sv.create(""), sv.create("")
	good := sv.connect("?sessionId=" + id)
	for range 10 {
		sv.raw("?sessionId="+id, 16<<10)    // will be full
		sv.raw("?sessionId="+quiet, 16<<10) // will be silent
	}
	sv.submit(id, "go")
	var wg sync.WaitGroup
	ended := make(chan struct{})
	wg.Go(func() {
		for {
			if good.readErr(t.Context()) != nil { // reading answers pings
				return
			}
			select {
			case <-ended:
				return
			default:
			}
		}
	})
	eventually(t, "only the one that answers is left", func() bool { return sv.hub.Clients() == 1 && sv.hub.Rooms() == 1 })
	close(ended)
	good.do(`{"type":"configure","config":{"maxTurns":2},"commandId":"k"}`)
	wg.Wait()
	good.untilAck("k")
	if s := good.state(); len(s.Messages) != 2 {
		t.Error(fmt.Sprint(len(s.Messages), " messages"))
	}
}
