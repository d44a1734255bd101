package delta

import (
	"fmt"
	"strings"
	"testing"

	"harness"
	"harness/internal/object"
)

// conversation is a session of n messages whose last one is being written.
func conversation(n int) *harness.State {
	st := new(harness.State)
	seq := harness.Seq(0)
	add := func(p harness.Payload) {
		seq++
		st.Apply(harness.Event{Seq: seq, Session: "ses_1", Time: beginning, Payload: p})
	}
	for i := range n / 2 {
		turn, item := harness.TurnID(fmt.Sprint("trn_", i)), harness.ItemID(fmt.Sprint("itm_", 2*i+1))
		add(&harness.UserMessage{ItemID: harness.ItemID(fmt.Sprint("itm_", 2*i)), Parts: harness.TextPart("What does this do?")})
		add(&harness.TurnStart{TurnID: turn, ItemID: item})
		add(&harness.Token{ItemID: item, Text: strings.Repeat("It reads \"a file\" and prints it.\n", 20)})
		call := harness.CallID(fmt.Sprint("call_", i))
		add(&harness.ToolCall{ToolCallID: call, Name: "bash", Arguments: []byte(`{"command":"ls -la"}`)})
		add(&harness.ToolResult{ToolCallID: call, Output: strings.Repeat("drwxr-xr-x 2 a b\n", 20)})
		add(&harness.ToolOutcome{ToolCallID: call, Status: harness.OutcomeOK})
		if i < n/2-1 {
			add(&harness.TurnEnd{TurnID: turn, Status: harness.TurnCompleted})
		}
	}
	return st
}

// tokens is the work for one token: fold, project, merge, and encode a frame
// for every perFrame of them.
func tokens(p *projector, out *object.Pending, buf []byte, perFrame int) func() {
	item := p.st.Turn.Item
	e := harness.Event{Seq: p.st.Seq, Session: "ses_1", Time: beginning, Payload: &harness.Token{ItemID: item, Text: "token "}}
	n := 0
	return func() {
		e.Seq++
		p.project(e, out)
		if n++; n%perFrame == 0 {
			buf = appendDelta(buf[:0], e.Seq, out)
			out.Reset()
		}
	}
}

// Gate: the cost of a token does not depend on the length of the conversation,
// and a frame for each is the worst case.
func BenchmarkToken(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		for _, perFrame := range []int{1, 16} {
			b.Run(fmt.Sprintf("messages=%d/perFrame=%d", n, perFrame), func(b *testing.B) {
				var out object.Pending
				one := tokens(newProjector(conversation(n), 0), &out, nil, perFrame)
				b.ReportAllocs()
				for b.Loop() {
					one()
				}
			})
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	st := conversation(1000)
	var sealed [][]byte
	for _, m := range st.Messages {
		sealed = append(sealed, harness.EncodeMessage(m))
	}
	stored := st.Clone()
	stored.Seal(len(sealed))
	for _, c := range []struct {
		name   string
		st     *harness.State
		sealed [][]byte
	}{{"open", st, nil}, {"sealed", stored, sealed}} {
		b.Run(c.name, func(b *testing.B) {
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf = appendState(buf[:0], c.st, c.sealed, 0)
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	frame := batch(`{"type":"submit","prompt":"What does this do?","commandId":"c1"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode(frame); err != nil {
			b.Fatal(err)
		}
	}
}

// A token that streams costs no garbage beyond the text that the state keeps.
func TestStreamingTextAllocatesNothing(t *testing.T) {
	var out object.Pending
	p := newProjector(conversation(1000), 0)
	one := tokens(p, &out, make([]byte, 0, 1<<10), 4)
	for range 100 {
		one()
	}
	if n := testing.AllocsPerRun(1000, one); n >= 1 {
		t.Errorf("%v allocations for a token", n)
	}
}
