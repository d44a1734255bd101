package delta_test

import (
	"fmt"
	"testing"
	"time"

	"harness/kernel"
)

// Nobody makes frames that nobody watches.
func TestALaneHasWatchers(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", &kernel.Options{IdleAfter: time.Hour})
	id := sv.create("")
	sv.talk(id, 2)
	eventually(t, "the room is gone", func() bool { return sv.hub.Rooms() == 0 })
	small := sv.connect("?window=64&sessionId=" + id)
	lanes := func(want int) {
		t.Helper()
		eventually(t, fmt.Sprint(want, " lanes"), func() bool { return sv.hub.Lanes() == want })
	}
	lanes(1)
	large := sv.connect("?sessionId=" + id)
	lanes(2)
	small.ws.CloseNow()
	lanes(1)
	again := sv.connect("?window=64&sessionId=" + id)
	lanes(2)
	large.ws.CloseNow()
	lanes(1)
	sv.talk(id, 1)
	again.until("the turn ends", func(s state) bool { return idle(s) && len(s.Messages) == 6 })
	again.settle(sv)
}
