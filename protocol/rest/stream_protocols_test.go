package rest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"testing"

	"harness"
	"harness/kernel"
	"harness/protocol/rpc"
)

// Leave one protocol at a position and go on with another at the next.
func TestAPositionIsGoodInEveryProtocol(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		h := build(t, st, "say a\ngate one\nsay b\nthink c\ngate two\nsay d\ncall look => e\ngate three\nsay f\n", kernel.Options{Window: -1}, feedOptions{})
		_, web := socketsOf(t, h)
		addr := web.Listener.Addr().String()
		id := h.create("")
		h.submit(id, "go")

		sse := h.listen(string(id))
		first := sse.until("token")
		n := number(sse.last)
		same(t, "the first stream", first, h.log(id, everything)[:n])
		sse.nc.Close()

		base := &mirror{} // what a client of the stream has put together by now
		ws, err := base.dial(addr, id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := base.read(ws); err != nil || base.seq != uint64(n) {
			t.Fatalf("the state is at %d, %v; the stream was at %d", base.seq, err, n)
		}
		ws.CloseNow()
		h.engine.Open("one")
		ws, err = base.dial(addr, id)
		if err != nil {
			t.Fatal(err)
		}
		kind, err := base.read(ws)
		if err != nil || kind == "hb" && base.beat != uint64(n) {
			t.Fatalf("the first frame is %s at %d, %v; want %d", kind, base.beat, err, n)
		}
		for reasoned := func() bool { return len(h.log(id, kindBits["thinking"])) == 1 }; !reasoned() || base.seq < uint64(len(h.log(id, everything))); {
			if _, err := base.read(ws); err != nil {
				t.Fatal(err)
			}
		}
		fresh := &mirror{}
		other, err := fresh.dial(addr, id)
		if err != nil {
			t.Fatal(err)
		}
		for fresh.seq < base.seq {
			if _, err := fresh.read(other); err != nil {
				t.Fatal(err)
			}
		}
		if fresh.seq != base.seq || !reflect.DeepEqual(fresh.value(t), base.value(t)) {
			t.Fatalf("at %d: %s\nthe state at %d: %s", base.seq, base.tree.AppendJSON(nil), fresh.seq, fresh.tree.AppendJSON(nil))
		}
		ws.CloseNow()
		other.CloseNow()
		m := int(base.seq)

		c := talk(t, h.k)
		c.call("thread.subscribe", fmt.Sprintf(`{"threadId":%q,"after":%d}`, id, m))
		h.engine.Open("two")
		p := 0
		for outcomes := 0; outcomes == 0; {
			method, seq := c.told()
			if seq <= m || seq < p {
				t.Fatalf("told %s at %d after %d", method, seq, max(m, p))
			}
			p = seq
			if len(h.log(id, kindBits["tool_outcome"])) == 1 && p == len(h.log(id, everything)) {
				outcomes++
			}
		}
		h.engine.Open("three")
		last := h.listen(fmt.Sprintf("%s?after=%d", id, p)).until("turn_end")
		all := h.log(id, everything)
		same(t, "the last stream", last, all[p:p+len(last)])
	})
}

// caller is a JSON-RPC client.
type caller struct {
	t   testing.TB
	in  *io.PipeWriter
	out *bufio.Reader
}

func talk(t testing.TB, k *kernel.Kernel) *caller {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- rpc.Serve(ctx, k, inR, outW, &rpc.Options{Version: "1.0.0"})
		outW.Close()
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
		<-done
	})
	c := &caller{t, inW, bufio.NewReader(outR)}
	c.call("initialize", `{"client":{"name":"test"}}`)
	return c
}

func (c *caller) line() (l struct {
	ID     *int
	Method string
	Params struct{ Seq int }
	Error  json.RawMessage
}) {
	c.t.Helper()
	b, err := c.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(b, &l)
	}
	if err != nil || l.Error != nil {
		c.t.Fatalf("%s: %v", b, err)
	}
	return l
}

// call waits for the answer, which comes before what it asks for.
func (c *caller) call(method, params string) {
	c.t.Helper()
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
	for c.line().ID == nil {
	}
}

func (c *caller) told() (method string, seq int) {
	c.t.Helper()
	for {
		if l := c.line(); l.Method != "" {
			return l.Method, l.Params.Seq
		}
	}
}
