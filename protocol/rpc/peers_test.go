package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/protocol/rpc"
)

// What the strongest peer gets wrong, measured, and what we do instead.

// A client that attaches in the middle of an item has its text so far with the
// answer, and the rest in deltas: nothing twice, nothing missing.
func TestLateClientHasTheTextSoFar(t *testing.T) {
	t.Parallel()
	sv := serve(t, "think Hm.\nsay \"one \"\nsay \"two \"\ntool bash {\"command\":\"ls\"}\nlog a\ngate go\nlog b\nresult ab\noutcome ok\nsay three\n")
	a, b := sv.connect(), sv.connect()
	id := a.thread()
	a.start(id, "go")
	for !strings.Contains(a.until("item.delta").raw, `"tool_log"`) {
		continue
	}
	var r struct {
		Seq  int
		Turn struct {
			TurnID string
			Items  []struct {
				ItemID, Type string
				Data         struct{ Text, Reasoning, Tool, Output string }
			}
		}
	}
	b.must(&r, "thread.subscribe", fmt.Sprintf(`{"threadId":%q}`, id))
	if n := len(r.Turn.Items); n != 3 || r.Turn.Items[1].Data.Text != "one two " || r.Turn.Items[1].Data.Reasoning != "Hm." || r.Turn.Items[2].Data.Output != "a" {
		t.Fatalf("%+v", r)
	}
	sv.engine.Open("go")
	b.until("turn.completed")
	deltas := ""
	for _, l := range b.seen {
		var p struct {
			Seq   int
			Delta string
			Type  string
		}
		json.Unmarshal(l.Params, &p)
		if l.Method != "" && p.Seq <= r.Seq {
			t.Errorf("told again: %s", l.raw)
		}
		deltas += p.Delta
	}
	if deltas != "bthree" {
		t.Errorf("deltas %q", deltas)
	}
}

func TestPipelinedRequestsAreAllAnsweredInOrder(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	const n = 2000
	go func() {
		for i := range n {
			io.WriteString(c.in, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize"}`+"\n", i))
		}
	}()
	for i := range n {
		if l := c.read(); string(l.ID) != fmt.Sprint(i) || l.Error != nil {
			t.Fatalf("answer %d: %s", i, l.raw)
		}
	}
}

// A client may even write all its requests before it reads anything.
func TestClientThatWritesBeforeItReads(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo")
	in := strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"none"}`+"\n", 2000)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- rpc.Serve(context.Background(), sv.k, inR, outW, nil); outW.Close() }()
	if _, err := io.WriteString(inW, in); err != nil { // returns: nothing waits for the reader
		t.Fatal(err)
	}
	inW.Close()
	out, err := io.ReadAll(outR)
	if n := strings.Count(string(out), "-32601"); n != 2000 || err != nil {
		t.Errorf("%d answers, %v", n, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A client that stops reading stops only its own notifications. The turn ends meanwhile, others see it, and when the client reads
// again it gets everything, in order and exactly once.
func TestSlowReaderLosesNothing(t *testing.T) {
	t.Parallel()
	const tokens, size = 5000, 200
	sv := serve(t, fmt.Sprintf("gate go\nstream %d 0s %s\n", tokens, strings.Repeat("x", size)))
	fast := sv.connect()
	id := fast.thread()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- rpc.Serve(context.Background(), sv.k, inR, outW, nil); outW.Close() }()
	slow := bufio.NewReaderSize(outR, 1<<16)
	fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":1,"method":"thread.subscribe","params":{"threadId":%q}}`+"\n", id)
	if _, err := slow.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	fast.start(id, "go")
	sv.engine.Open("go")
	for l := fast.read(); l.Method != "turn.completed"; l = fast.read() { // the slow one reads nothing meanwhile
		fast.seen = fast.seen[:0]
	}
	got, last := 0, harness.Seq(0)
	for ended := false; !ended; {
		raw, err := slow.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var l struct {
			Method string
			Params struct {
				Seq   harness.Seq
				Delta string
			}
		}
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			t.Fatal(err)
		}
		if l.Params.Seq < last {
			t.Fatalf("seq %d after %d", l.Params.Seq, last)
		}
		last = l.Params.Seq
		got += len(l.Params.Delta)
		ended = l.Method == "turn.completed"
	}
	if got != tokens*size {
		t.Errorf("%d bytes of text, want %d", got, tokens*size)
	}
	inW.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// After a crash the text that was told is still there.
func TestPartialTextSurvivesACrash(t *testing.T) {
	t.Parallel()
	sv := serve(t, "say \"one \"\nsay \"two \"\ngate never\n")
	c := sv.connect()
	id := c.thread()
	c.start(id, "go")
	said := ""
	for said != "one two " {
		var p struct{ Delta string }
		json.Unmarshal(c.until("item.delta").Params, &p)
		said += p.Delta
	}
	told := c.notes(id)
	d := sv.crash("echo").connect()
	d.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q,"after":0}`, id))
	d.until("turn.error") // the recovery ends the turn
	replay := records(t, d.get(id))
	if len(replay) < len(told) {
		t.Fatalf("%d of %d", len(replay), len(told))
	}
	for i := range told {
		if replay[i] != told[i] {
			t.Errorf("told  %s\nkept  %s", told[i], replay[i])
		}
	}
	if !strings.Contains(strings.Join(replay, "\n"), `"data":{"text":"one two "}`) {
		t.Errorf("the item is not completed with its text:\n%s", strings.Join(replay, "\n"))
	}
}

func TestMalformedJSONAndBatchesAreAnswered(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	c.write(`{nonsense`)
	c.write(`[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`)
	c.write(`{"jsonrpc":"2.0","id":2,"method":"initialize"}`)
	if l := c.read(); l.Error == nil || l.Error.Code != -32700 {
		t.Errorf("%s", l.raw)
	}
	if l := c.read(); !strings.HasPrefix(l.raw, `[{"jsonrpc":"2.0","id":1,"result":`) {
		t.Errorf("%s", l.raw)
	}
	if l := c.read(); string(l.ID) != "2" || l.Error != nil {
		t.Errorf("%s", l.raw)
	}
}

// The end of the input ends the connection, not the turn.
func TestTurnOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	sv := serve(t, "repeat 50\nsay x\nend\ngate go\nsay end\n")
	a := sv.connect()
	id := a.thread()
	a.start(id, "go")
	a.in.Close()
	select {
	case err := <-a.done:
		if err != nil {
			t.Error(err)
		}
	case <-drained(a):
		if err := <-a.done; err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("Serve does not return")
	}
	b := sv.connect()
	b.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q,"after":0}`, id))
	sv.engine.Open("go")
	b.until("turn.completed")
}

// drained is closed when the connection's output has ended.
func drained(c *client) <-chan struct{} {
	end := make(chan struct{})
	go func() {
		defer close(end)
		for range c.lines {
		}
	}()
	return end
}
