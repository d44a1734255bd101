package delta_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"harness/kernel"
)

// A session that stays awake does not stay in memory whole: lanes forget what
// the store keeps, and nobody sees a difference.
func TestLanesForgetWhatTheStoreKeeps(t *testing.T) {
	t.Parallel()
	sv := serve(t, "call look {} => seen\necho", &kernel.Options{SnapshotEvery: 16, IdleAfter: time.Hour})
	id := sv.create("")
	all, some := sv.connect("?sessionId="+id), sv.connect("?window=64&sessionId="+id)
	const turns = 150
	for n := range turns {
		all.do(fmt.Sprintf(`{"type":"submit","prompt":"%d"}`, n))
		all.until("the turn ends", func(s state) bool { return idle(s) && len(s.Messages) == 2*(n+1) })
	}
	for _, c := range []*client{all, some, sv.connect("?sessionId=" + id), sv.connect("?window=128&sessionId=" + id)} {
		c.until("the last turn ended", func(s state) bool { return idle(s) && s.FirstMessage+len(s.Messages) == 2*turns })
		c.settle(sv)
	}
	if slices.Contains(all.kinds[1:], "state") {
		t.Error("who saw all messages was sent a second state")
	}
	if n, lanes := sv.hub.Unsealed(), sv.hub.Lanes(); lanes != 3 || n > lanes*turns {
		t.Errorf("%d lanes hold %d messages of %d", lanes, n, 2*turns)
	}
}
