package delta_test

import (
	"testing"
	"time"

	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// untilBeats reads until n more beats have come.
func (c *client) untilBeats(n int) {
	c.t.Helper()
	for n > 0 {
		c.read()
		if c.kinds[len(c.kinds)-1] == "hb" {
			n--
		}
	}
}

func TestBeatsReachThoseWhoAsked(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "echo", &kernel.Options{IdleAfter: time.Millisecond}, &delta.Options{Beat: 5 * time.Millisecond})
	a, b, plain := sv.connect("?userId=u&hb=1"), sv.connect("?userId=u&caps=rev,hb,ack"), sv.connect("?userId=u&hb=0&caps=hbx")
	a.untilBeats(3)
	a.do(`{"type":"submit","prompt":"hi"}`)
	for _, c := range []*client{a, b} {
		c.until("the turn ends", idle)
		c.settle(sv)
	}
	sv.asleep()
	for _, c := range []*client{a, b} {
		c.untilBeats(1) // may have been on its way
		c.untilBeats(3)
		if c.beat != c.seq {
			t.Errorf("the beat says %d, the client is at %d", c.beat, c.seq)
		}
	}
	if sv.k.Awake() != 0 {
		t.Error("a beat woke the session")
	}
	plain.until("the turn ends", idle)
	plain.do(`{"type":"submit","prompt":"more"}`)
	plain.until("the second turn ends", func(s state) bool { return idle(s) && len(s.Messages) == 4 })
	for _, k := range plain.kinds {
		if k == "hb" {
			t.Fatal("a client that did not ask got a beat")
		}
	}
}

func TestBeatsGoOnInAnotherSession(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "echo", nil, &delta.Options{Beat: 5 * time.Millisecond})
	other := sv.create("")
	c := sv.connect("?userId=u&hb=1")
	c.do(`{"type":"resume","sessionId":"` + other + `","prompt":"there"}`)
	c.until("it went", func(s state) bool { return s.SessionID == other && idle(s) })
	c.untilBeats(3)
	c.settle(sv)
}
