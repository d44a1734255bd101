package delta_test

import (
	"crypto/sha256"
	"sync"
	"testing"

	"harness/protocol/delta"
	"harness/store/memory"
)

// A thousand watchers of one session end with the same state, and those who
// were there from the beginning were sent the very same bytes.
func TestAThousandWatchersOfOneSession(t *testing.T) {
	const crowd = 1000
	sv := serveOn(t, memory.New(), "repeat 40\ntype the quick brown fox jumps over the lazy dog\ncall look {\"at\":1} => seen\nend\nsay end", nil, &delta.Options{})
	id := sv.create("")
	all := make([]*raw, crowd)
	var wg sync.WaitGroup
	for part := range 8 {
		wg.Go(func() {
			for i := part; i < crowd; i += 8 {
				all[i] = sv.raw("?sessionId="+id, 0)
				all[i].text()
			}
		})
	}
	wg.Wait()
	if n := sv.hub.Clients(); n != crowd {
		t.Fatalf("%d clients", n)
	}
	act := sv.connect("?sessionId=" + id)
	act.do(`{"type":"submit","prompt":"go"}`)
	act.until("the turn ends", idle)
	act.settle(sv)
	deltas := act.count("delta")
	sums := make([][32]byte, crowd)
	for part := range 8 {
		wg.Go(func() {
			for i := part; i < crowd; i += 8 {
				h := sha256.New()
				for range deltas {
					h.Write(all[i].text())
				}
				h.Sum(sums[i][:0])
			}
		})
	}
	wg.Wait()
	for i := range sums {
		if sums[i] != sums[0] {
			t.Fatalf("watchers 0 and %d were sent different bytes", i)
		}
	}
	one := sv.raw("?sessionId="+id, 0)
	late := one.client()
	if err := late.take(one.text()); err != nil {
		t.Fatal(err)
	}
	if got, want := sorted(t, late.json()), sorted(t, act.json()); got != want {
		t.Errorf("who came late sees %s", around(got, want))
	}
	t.Logf("%d watchers, %d frames each", crowd, deltas)
	for _, r := range all {
		r.nc.Close()
	}
	eventually(t, "the crowd has left", func() bool { return sv.hub.Clients() == 2 })
}
