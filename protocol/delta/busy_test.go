package delta_test

import (
	"fmt"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// A room whose mutex is taken for long delays neither other rooms nor those
// who must not wait: the session that wakes, the socket that drains.
func TestABusyRoomDelaysNoOther(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "echo", &kernel.Options{IdleAfter: time.Millisecond}, &delta.Options{Beat: time.Hour})
	here := sv.connect("?userId=busy")
	other := sv.connect("?userId=other")
	sv.asleep()
	release := sv.hub.Hold(harness.DefaultSession("busy"))
	defer release()
	var late []*raw
	for range 4 {
		late = append(late, sv.raw("?userId=busy", 0))
	}
	here.ws.CloseNow() // and somebody wants to leave
	for n := range 3 {
		other.do(fmt.Sprintf(`{"type":"submit","prompt":"%d"}`, n))
		other.until("the turn ends", func(s state) bool { return idle(s) && len(s.Messages) == 2*(n+1) })
		eventually(t, "the session sleeps", func() bool { return sv.k.Awake() == 0 })
	}
	sv.connect("?userId=third")
	release()
	for _, r := range late {
		r.text()
	}
}
