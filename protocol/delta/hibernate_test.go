package delta_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// After the last turn a session and its watchers are rows: no goroutine, no
// frames.
func TestParkedClientsCostNoGoroutine(t *testing.T) {
	const crowd = 200
	sv := serve(t, "echo", &kernel.Options{IdleAfter: time.Millisecond})
	sv.submit(sv.create(""), "warm up")
	sv.asleep()
	base := runtime.NumGoroutine()
	var all []*raw
	for i := range crowd {
		query := fmt.Sprintf("?userId=u%d&hb=1", i)
		if i%4 == 0 {
			query = "?userId=shared"
		}
		want := 2
		if i%4 == 0 {
			want = 2 * (i/4 + 1)
		}
		r := sv.raw(query, 0)
		c := r.client()
		if err := c.take(r.text()); err != nil {
			t.Fatal(err)
		}
		if err := r.send(1, []byte(`{"type":"commands","commands":[{"type":"submit","prompt":"hi"}]}`)); err != nil {
			t.Fatal(err)
		}
		r.untilIdle(c, want)
		all = append(all, r)
	}
	sv.asleep()
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= base })
	if n := sv.hub.Rooms(); n != 151 {
		t.Errorf("%d rooms, want 151", n)
	}
	for _, r := range all {
		r.nc.Close()
	}
	eventually(t, "no row is left", func() bool { return sv.hub.Clients() == 0 && sv.hub.Rooms() == 0 })
}

// A session that was woken would stay awake for an hour here.
func TestAWatcherOfASleepingSessionDoesNotWakeIt(t *testing.T) {
	t.Parallel()
	st := memory.New()
	before := serveOn(t, st, "echo", nil, nil)
	id := before.create("ann")
	before.talk(id, 70)
	before.close()
	sv := serveOn(t, st, "echo", &kernel.Options{IdleAfter: time.Hour}, nil)
	seq := sv.truth(id).Seq
	for _, query := range []string{"", "&window=64", "&window=100", "&hb=1", fmt.Sprint("&since=", seq), "&since=3", "&since=99999999"} {
		for range 3 {
			c := sv.dial("?sessionId=" + id + query)
			c.read()
			if c.kinds[0] == "state" {
				c.settle(sv)
			} else if c.kinds[0] != "hb" || query != fmt.Sprint("&since=", seq) {
				t.Errorf("%s: frames %v", query, c.kinds)
			}
		}
	}
	eventually(t, "no feed is left", func() bool { feeds, shows := sv.hub.Feeds(); return feeds+shows == 0 })
	if n := sv.k.Awake(); n != 0 {
		t.Errorf("%d sessions are awake", n)
	}
	last := sv.connect("?sessionId=" + id)
	last.do(`{"type":"submit","prompt":"wake"}`)
	last.until("the turn ends", func(s state) bool { return idle(s) && s.last().Content == "wake" })
	if n := sv.k.Awake(); n != 1 {
		t.Errorf("%d sessions are awake after a command", n)
	}
}

// Whoever wakes a session, its parked clients go on with deltas.
func TestParkedClientsGoOnWithDeltas(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", &kernel.Options{IdleAfter: 150 * time.Millisecond, SnapshotEvery: 8}) // time to look at it before it sleeps
	id := sv.create("")
	var all []*client
	for i := range 12 {
		all = append(all, sv.connect("?sessionId="+id+[]string{"", "&window=64", "&hb=1"}[i%3]))
	}
	for n := range 6 {
		sv.asleep()
		if n%2 == 0 {
			sv.submit(id, "as another protocol would")
		} else {
			all[n%12].do(`{"type":"submit","prompt":"as a client would"}`)
		}
		for _, c := range all {
			c.until("the turn ends", func(s state) bool { return idle(s) && len(s.Messages) == 2*(n+1) })
			c.settle(sv)
		}
	}
	for i, c := range all {
		if slices.Contains(c.kinds[1:], "state") {
			t.Errorf("client %d got frames %v", i, c.kinds)
		}
	}
}

func TestAStormOfWakes(t *testing.T) {
	t.Parallel()
	const storm = 200
	sv := serve(t, "type the storm is over", &kernel.Options{IdleAfter: 100 * time.Millisecond})
	type pair struct {
		r  *raw
		c  *client
		id string
	}
	var all []pair
	for range storm {
		id := sv.create("")
		r := sv.raw("?sessionId="+id, 0)
		p := pair{r, r.client(), id}
		if err := p.c.take(r.text()); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	sv.asleep()
	for round := range 3 {
		begin := time.Now()
		var wg sync.WaitGroup
		for _, p := range all {
			wg.Go(func() {
				cmd := harness.Submit{Parts: harness.TextPart("go"), Source: harness.FromSubmit, OnBusy: harness.Enqueue}
				if _, err := sv.k.Do(t.Context(), harness.SessionID(p.id), cmd); err != nil {
					t.Error(err)
				}
				p.r.untilIdle(p.c, 2*round+2)
			})
		}
		wg.Wait()
		t.Logf("%d sessions woken, %d turns watched in %v", storm, storm, time.Since(begin))
		sv.asleep()
	}
	for _, p := range all {
		if got, want := sorted(t, p.c.json()), shown(t, sv.truth(p.id), 0); got != want {
			t.Fatalf("client of %s: %s", p.id, around(got, want))
		}
	}
}
