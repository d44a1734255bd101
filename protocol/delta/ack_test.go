package delta_test

import (
	"fmt"
	"testing"

	"harness/store/memory"
)

func TestEveryNamedCommandIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	sv := serve(t, "gate end\necho", nil)
	c := sv.connect("?userId=u")
	c.do(`{"type":"submit","prompt":"a","commandId":"1"}`, `{"type":"steer","message":"b","commandId":"2"}`,
		`{"type":"submit","prompt":"unnamed"}`, `{"type":"rewind","messageId":"m","commandId":"3"}`,
		`{"type":"configure","config":{"maxTurns":3},"commandId":"4"}`, `{"type":"approve","toolCallId":"x","commandId":"5"}`,
		`{"type":"cancel","commandId":"6"}`)
	for len(c.acks)+len(c.errs) < 6 {
		c.read()
	}
	for _, id := range []string{"1", "2", "4", "6"} {
		if c.acks[id] == 0 {
			t.Errorf("no ack of %s: %v, %v", id, c.acks, c.errs)
		}
	}
	if len(c.errs) != 2 || c.errs[0].CommandID != "3" || c.errs[0].Code != "unsupported" || c.errs[1].CommandID != "5" || c.errs[1].Code != "approval_not_found" {
		t.Errorf("errors %v", c.errs)
	}
	for a, b := range map[string]string{"1": "2", "2": "4", "4": "6"} {
		if c.acks[a] >= c.acks[b] {
			t.Errorf("ack of %s at %d, of %s at %d", a, c.acks[a], b, c.acks[b])
		}
	}
	sv.engine.Open("end")
	c.until("all ends", idle)
	c.settle(sv)
}

func TestACommandSentAgainAfterAReconnectIsDoneOnce(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	c := sv.connect("?userId=u")
	first := map[string]uint64{}
	for n := range 5 {
		id := fmt.Sprint("k", n)
		c.do(`{"type":"submit","prompt":"hi","commandId":"` + id + `"}`)
		first[id] = c.untilAck(id)
		c.reconnect(sv, since("u", c.seq))
		if n%2 == 0 {
			sv.asleep()
		}
		c.acks = map[string]uint64{}
		c.do(`{"type":"submit","prompt":"hi","commandId":"`+id+`"}`, `{"type":"submit","prompt":"hi","commandId":"`+id+`x"}`)
		if got := c.untilAck(id); got != first[id] {
			t.Errorf("acks of %s: %d, then %d", id, first[id], got)
		}
		c.untilAck(id + "x")
	}
	c.until("all turns end", func(s state) bool { return idle(s) && len(s.Messages) == 20 })
	c.settle(sv)
	if len(c.errs) > 0 {
		t.Errorf("errors %v", c.errs)
	}
}

// Answers wait for a client that does not read, behind the frame in flight,
// and come in the order of the commands.
func TestAnswersToABlockedClientComeInOrder(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "repeat 600\nsay "+longText+"\ncall t => done\nend\n", nil, patient)
	id := sv.create("")
	fast := sv.connect("?sessionId=" + id)
	r := sv.raw("?sessionId="+id, 32<<10)
	fast.do(`{"type":"submit","prompt":"go"}`)
	fast.until("the turn ends", idle)
	if sv.hub.Blocked() != 1 {
		t.Fatal("the slow client is not blocked")
	}
	for n := range 100 {
		cmd := fmt.Sprintf(`{"type":"configure","config":{"maxTurns":%d},"commandId":"%d"}`, n+1, n)
		if n%2 == 1 {
			cmd = fmt.Sprintf(`{"type":"rewind","messageId":"m","commandId":"%d"}`, n)
		}
		if err := r.send(1, []byte(`{"type":"commands","commands":[`+cmd+`]}`)); err != nil {
			t.Fatal(err)
		}
	}
	c := r.client()
	for n := 0; n < 100; {
		if err := c.take(r.text()); err != nil {
			t.Fatal(err)
		}
		switch got := fmt.Sprint(n); c.kinds[len(c.kinds)-1] {
		case "ack":
			if _, ok := c.acks[got]; !ok || n%2 == 1 {
				t.Fatalf("answer %d is an ack: %v", n, c.acks)
			}
			n++
		case "error":
			if e := c.errs[len(c.errs)-1]; e.CommandID != got || n%2 == 0 {
				t.Fatalf("answer %d is %+v", n, e)
			}
			n++
		}
	}
	want := shown(t, sv.truth(id), 0)
	for sorted(t, c.json()) != want {
		if err := c.take(r.text()); err != nil {
			t.Fatal(err)
		}
	}
}
