package delta_test

import (
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"harness/internal/socket"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// Connections that cannot be parked tell the same story.
func TestTheTypicalFlowOverConnectionsThatAreHeld(t *testing.T) {
	for name, x := range map[string]struct {
		start func(*httptest.Server)
		opts  socket.Options
	}{
		"held": {(*httptest.Server).Start, socket.Options{NoPark: true}},
		"tls":  {(*httptest.Server).StartTLS, socket.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			src := "say Hello\nask bash {\"c\":1} \"May I\" => did\nrepeat 100\nsay " + longText + "\nend\nsay bye\n"
			sv := serveAs(t, x.start, memory.New(), src, &kernel.Options{IdleAfter: 5 * time.Millisecond}, &delta.Options{Beat: 5 * time.Millisecond, Socket: x.opts})
			a, b, w := sv.connect("?userId=u"), sv.connect("?userId=u&hb=1"), sv.connect("?userId=u&window=64")
			for turn := range 3 {
				a.do(`{"type":"submit","prompt":"hi"}`)
				s := b.until("it asks", func(s state) bool { return s.Status == "awaiting-approval" })
				b.do(`{"type":"approve","toolCallId":"` + s.PendingApprovals[0].ToolCallID + `"}`)
				for _, c := range []*client{a, b, w} {
					c.until("the turn ends", func(s state) bool { return idle(s) && len(s.Messages) == 2*turn+2 })
					if !strings.HasSuffix(c.state().last().Content, "bye") {
						t.Errorf("%.100s", c.json())
					}
					c.settle(sv)
				}
				sv.asleep()
			}
			b.untilBeats(2)
			a.send("{")
			if e := a.untilError(); e.Code != "invalid" {
				t.Errorf("%+v", e)
			}
			a.reconnect(sv, since("u", a.seq))
			a.read()
			if a.kinds[0] != "hb" {
				t.Errorf("frames %v", a.kinds)
			}
			for _, c := range []*client{a, b, w} {
				c.ws.CloseNow()
			}
			eventually(t, "the clients are gone", func() bool { return sv.hub.Clients() == 0 && sv.hub.Rooms() == 0 })
			sv.close()
			eventually(t, "nothing runs", func() bool { return runtime.NumGoroutine() <= before })
		})
	}
}
