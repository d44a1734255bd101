package node_test

import (
	"sync"
	"testing"
	"time"

	"harness"
)

// TestOfManyNodesOneRetiresAtATime has nodes remove old sessions together: each
// session goes once, and with it its lease, and what another node works on stays.
func TestOfManyNodesOneRetiresAtATime(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 3, setting{script: longScript})
	works := nodes[1].create(harness.NewSession{})
	nodes[1].do(works, submit("long"))
	nodes[1].eventually(works, "words", has[*harness.Token](1))
	const old = 20
	for range old {
		nodes[0].create(harness.NewSession{})
	}
	var mu sync.Mutex // guards gone
	gone := map[harness.SessionID]int{}
	late := time.After(patience)
	for len(gone) < old {
		var wg sync.WaitGroup
		for _, n := range nodes {
			wg.Go(func() {
				if err := n.Retire(t.Context(), time.Now().Add(time.Hour), func(id harness.SessionID) {
					mu.Lock()
					defer mu.Unlock()
					gone[id]++
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		select {
		case <-late:
			t.Fatalf("%d of %d have gone", len(gone), old)
		default: // some were still awake
		}
	}
	for id, n := range gone {
		if n != 1 || id == works {
			t.Errorf("%s went %d times", id, n)
		}
	}
	for l, err := range nodes[2].store.Orphans(t.Context()) {
		t.Errorf("left: %+v, %v", l, err)
	}
}
