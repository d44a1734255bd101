package delta_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// reconnect goes on with the same tree on a new connection.
func (c *client) reconnect(s *server, query string) {
	c.t.Helper()
	c.ws.CloseNow()
	fresh := s.dial(query)
	c.ws, c.kinds = fresh.ws, nil
}

func since(user string, seq uint64) string { return fmt.Sprintf("?userId=%s&since=%d", user, seq) }

func TestSinceGoesOnWithDeltas(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "say one\ngate more\nsay two\n", nil, nil)
	c := sv.connect("?userId=u")
	c.do(`{"type":"submit","prompt":"hi"}`)
	c.until("it says one", func(s state) bool { return s.last().Content == "one" })
	c.reconnect(sv, since("u", c.seq))
	c.read()
	if c.kinds[0] != "hb" || c.beat != c.seq {
		t.Fatalf("frame %v at %d, want hb at %d", c.kinds, c.beat, c.seq)
	}
	sv.engine.Open("more")
	c.until("the turn ends", idle)
	c.settle(sv)
	if slices.Contains(c.kinds, "state") {
		t.Errorf("frames %v, want deltas only", c.kinds)
	}
}

func TestSinceWhatWasMissedComesFromTheRing(t *testing.T) {
	t.Parallel()
	sv := serve(t, "say one\ngate more\nsay two\ngate end\n", nil)
	watch, c := sv.connect("?userId=u"), sv.connect("?userId=u")
	c.do(`{"type":"submit","prompt":"hi"}`)
	c.until("it says one", func(s state) bool { return s.last().Content == "one" })
	c.ws.CloseNow()
	sv.engine.Open("more")
	watch.until("it says two", func(s state) bool { return s.last().Content == "onetwo" })
	c.reconnect(sv, since("u", c.seq))
	c.until("it hears two", func(s state) bool { return s.last().Content == "onetwo" })
	sv.engine.Open("end")
	c.until("the turn ends", idle)
	c.settle(sv)
	if c.kinds[0] != "hb" || slices.Contains(c.kinds, "state") {
		t.Errorf("frames %v, want hb and deltas", c.kinds)
	}
}

func TestSinceTheHeadIsConfirmedWhileAsleep(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	c := sv.connect("?userId=u")
	c.do(`{"type":"submit","prompt":"hi"}`)
	c.until("the turn ends", idle)
	for range 3 {
		sv.asleep()
		c.reconnect(sv, since("u", c.seq))
		c.read()
		if c.kinds[0] != "hb" || c.beat != c.seq || sv.k.Awake() != 0 {
			t.Fatalf("frame %v at %d, want hb at %d; %d sessions awake", c.kinds, c.beat, c.seq, sv.k.Awake())
		}
	}
	c.do(`{"type":"submit","prompt":"again"}`)
	c.until("the second turn ends", func(s state) bool { return idle(s) && len(s.Messages) == 4 })
	c.settle(sv)
	if slices.Contains(c.kinds, "state") {
		t.Errorf("frames %v, want deltas", c.kinds)
	}
}

// A position that nobody can go on from is answered with a state: too old, in
// the middle of what is one frame here, from the future, of a session that is
// not there.
func TestSinceAPlaceThatIsNoneGetsAState(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	c := sv.connect("?userId=u")
	c.do(`{"type":"submit","prompt":"hi"}`)
	c.until("the turn ends", idle)
	for _, asleep := range []bool{false, true} {
		if asleep {
			sv.asleep()
		}
		for _, query := range []string{since("u", 2), since("u", c.seq+1), since("u", 1<<52), since("nobody", 3), "?userId=u&since=0"} {
			d := sv.dial(query)
			d.read()
			if d.kinds[0] != "state" {
				t.Errorf("asleep %v, %s: frame %v", asleep, query, d.kinds)
			}
			d.settle(sv)
		}
	}
}

// A client that loses its connection again and again at places of no choosing
// ends with what the log says, and nothing came twice.
func TestSinceNeverLeavesAGapNorTellsTwice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 2))
			src := "pace 300us\nrepeat 60\ntype the quick brown fox jumps over the lazy dog\ncall look {\"at\":1} => seen\nthink hm\nend\n"
			sv := serveOn(t, memory.New(), src, &kernel.Options{TailEvents: 64, SnapshotEvery: 100, Window: -1}, &delta.Options{Window: -1})
			c := sv.connect("?userId=u")
			c.do(`{"type":"submit","prompt":"go"}`)
			states, hellos := 0, 0
			for !idle(c.state()) || len(c.state().Messages) == 0 {
				for range 1 + rnd.IntN(40) {
					if idle(c.state()) {
						break
					}
					c.read()
				}
				c.reconnect(sv, since("u", c.seq))
				for len(c.kinds) == 0 || c.kinds[len(c.kinds)-1] == "error" {
					c.read()
				}
				if c.kinds[0] == "state" {
					states++
				} else {
					hellos++
				}
			}
			c.settle(sv)
			t.Logf("%d reconnects: %d went on with deltas, %d with a state", states+hellos, hellos, states)
			if hellos == 0 {
				t.Error("none went on with deltas")
			}
		})
	}
}

// A frame may arrive after its connection is thought dead; the client's place
// is what counts.
func TestSinceOfAnEarlierFrameIsHonoured(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "repeat 20\nsay x\ncall t => y\nend\ngate end", &kernel.Options{Window: -1}, &delta.Options{Window: -1})
	c := sv.connect("?userId=u")
	c.do(`{"type":"submit","prompt":"go"}`)
	var places []uint64
	var trees []string
	c.until("all is said", func(s state) bool {
		if c.kinds[len(c.kinds)-1] == "delta" {
			places, trees = append(places, c.seq), append(trees, string(c.json()))
		}
		m := s.last()
		return len(m.ToolCalls) == 20 && m.ToolCalls[19].Status == "complete"
	})
	for i, seq := range places {
		d := sv.dial(since("u", seq))
		if err := d.take([]byte(`{"type":"state","seq":` + fmt.Sprint(seq) + `,"state":` + trees[i] + `}`)); err != nil {
			t.Fatal(err)
		}
		d.kinds = nil
		d.until("it is where the others are", func(state) bool { return d.seq == c.seq })
		if got, want := string(d.json()), string(c.json()); got != want {
			t.Fatalf("since %d: %s", seq, around(got, want))
		}
		if slices.Contains(d.kinds, "state") {
			t.Errorf("since %d: frames %s", seq, strings.Join(d.kinds, " "))
		}
		d.ws.Close(websocket.StatusNormalClosure, "")
	}
}

// With nobody there and the session asleep, what came after a place is only
// in the store: the client may first hear that its place is known, and gets
// the state.
func TestSinceAnOlderPlaceOfASessionThatNobodyWatches(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", &kernel.Options{IdleAfter: time.Millisecond})
	id := sv.create("")
	sv.talk(id, 3)
	for _, place := range []int{1, 2, 5, 1 << 40} {
		sv.asleep() // else it could go on with deltas, which a client that has nothing cannot read
		eventually(t, "nobody is there", func() bool { return sv.hub.Rooms() == 0 })
		c := sv.dial(fmt.Sprintf("?sessionId=%s&since=%d", id, place))
		c.settle(sv)
		c.do(`{"type":"configure","config":{"maxTurns":5},"commandId":"k"}`)
		c.untilAck("k")
		c.ws.CloseNow()
	}
}

// A state may stand behind events that showed nothing; both it and the frame
// before them are places to go on from.
func TestSinceBeforeAndBehindEventsThatShowNothing(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", &kernel.Options{IdleAfter: time.Hour})
	a := sv.connect("?userId=u")
	a.do(`{"type":"submit","prompt":"hi"}`)
	a.until("the turn ends", idle)
	a.do(`{"type":"configure","config":{"maxTurns":5},"commandId":"k"}`)
	a.untilAck("k")
	b := sv.connect("?userId=u")
	if b.seq <= a.seq {
		t.Fatalf("the state is at %d, the last delta at %d", b.seq, a.seq)
	}
	watch := sv.connect("?userId=u")
	a.ws.CloseNow()
	b.ws.CloseNow()
	watch.do(`{"type":"submit","prompt":"more"}`)
	watch.until("the second turn ends", func(s state) bool { return idle(s) && len(s.Messages) == 4 })
	for _, c := range []*client{a, b} {
		c.reconnect(sv, since("u", c.seq))
		c.until("it sees the second turn", func(s state) bool { return idle(s) && len(s.Messages) == 4 })
		c.settle(sv)
		if c.count("state") != 0 {
			t.Errorf("frames %v, want deltas", c.kinds)
		}
	}
}
