package delta_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/gobwas/ws"
)

// A message that breaks a limit gets one precise answer and changes nothing.
func TestWhatALimitRefusesLeavesEverythingIntact(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	c := sv.connect("?userId=u")
	cancel := `{"type":"cancel"},`
	for _, x := range []struct{ name, message, code, says string }{
		{"malformed JSON", `{"type":"commands","commands":[`, "invalid", "not JSON"},
		{"no object", `[]`, "invalid", "object"},
		{"empty", ``, "invalid", "not JSON"},
		{"unknown type", `{"type":"hello"}`, "invalid", `unknown message type "hello"`},
		{"unknown command", `{"type":"commands","commands":[{"type":"explode","commandId":"k"}]}`, "invalid", `unknown command "explode"`},
		{"wrong field type", `{"type":"commands","commands":[{"type":"submit","prompt":1}]}`, "invalid", "commands[0].prompt"},
		{"65 commands", `{"type":"commands","commands":[` + strings.Repeat(cancel, 64) + `{"type":"cancel"}]}`, "too_large", "65 commands, more than 64"},
		{"deep nesting", `{"type":"commands","commands":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + `}`, "invalid", "not JSON"},
		{"nesting that JSON allows", `{"type":"commands","commands":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "invalid", "nested too deeply"},
		{"1 MiB and a byte", `{"type":"` + strings.Repeat("x", 1<<20-10) + `"}`, "too_large", "a message of 1048577 bytes is over the limit of 1048576"},
		{"one good, one bad", `{"type":"commands","commands":[{"type":"submit","prompt":"never"},{"type":"submit"}]}`, "invalid", "commands[1].prompt"},
	} {
		before := string(c.json())
		c.send(x.message)
		e := c.untilError()
		if e.Code != x.code || !strings.Contains(e.Message, x.says) {
			t.Errorf("%s: %+v, want %s: …%s…", x.name, e, x.code, x.says)
		}
		if got := string(c.json()); got != before {
			t.Errorf("%s: the state is %s", x.name, got)
		}
	}
	if err := c.ws.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"commands","commands":[]}`)); err != nil {
		t.Fatal(err)
	}
	if e := c.untilError(); e.Code != "invalid" || !strings.Contains(e.Message, "binary") {
		t.Errorf("binary: %+v", e)
	}
	if got := sv.listed(); len(got) != 0 {
		t.Errorf("refused messages made %v", got)
	}
	largest := strings.Repeat("y", 256<<10)
	c.do(`{"type":"submit","prompt":"` + largest + `"}`)
	if s := c.until("the turn ends", idle); s.Messages[0].Content != largest {
		t.Error("the largest prompt was changed")
	}
	c.send(`{"type":"commands","commands":[` + strings.Repeat(cancel, 63) + `{"type":"cancel"}]}`)
	for n := range 64 {
		if e := c.untilError(); e.Code != "not_running" {
			t.Fatalf("command %d of 64: %+v", n, e)
		}
	}
	c.settle(sv)
}

func TestTenThousandBadMessagesCostNothing(t *testing.T) {
	sv := serve(t, "echo", nil)
	r := sv.raw("?userId=u", 0)
	r.text()
	bad := []string{`{`, `{"type":"commands","commands":[{"type":"x"}]}`, strings.Repeat("[", 2000), `{"type":"commands","commands":[{"type":"steer","message":"` + strings.Repeat("z", 300) + `"}],}`}
	round := func(n int) {
		for i := range n {
			if err := r.send(ws.OpText, []byte(bad[i%len(bad)])); err != nil {
				t.Fatal(err)
			}
			if b := r.text(); !bytes.HasPrefix(b, []byte(`{"type":"error"`)) {
				t.Fatalf("answer %s", b)
			}
		}
	}
	round(200)
	before := heap()
	round(10_000)
	if grown := heap() - before; grown > 256<<10 {
		t.Errorf("10,000 bad messages left %d bytes behind", grown)
	}
	if err := r.send(ws.OpText, []byte(`{"type":"commands","commands":[{"type":"submit","prompt":"hi","commandId":"k"}]}`)); err != nil {
		t.Fatal(err)
	}
	c := r.client()
	c.take([]byte(`{"type":"state","seq":0,"state":{"status":"idle","messages":[]}}`))
	for !idle(c.state()) || c.acks["k"] == 0 {
		if err := c.take(r.text()); err != nil {
			t.Fatal(err)
		}
	}
}

// heap is the bytes that are reachable.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A client that sends and sends and never reads is let go; those beside it
// notice nothing.
func TestAClientThatNeverReadsItsAnswersIsLetGo(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	good := sv.connect("?userId=u")
	r := sv.raw("?userId=u", 16<<10)
	bad := []byte(`{"type":"commands","commands":[{"type":"` + strings.Repeat("x", 100) + `"}]}`)
	var batch bytes.Buffer
	for range 100 {
		ws.WriteFrame(&batch, ws.MaskFrame(ws.NewFrame(ws.OpText, true, bytes.Clone(bad))))
	}
	var err error
	for n := 0; err == nil && n < 1000; n++ {
		_, err = r.nc.Write(batch.Bytes())
	}
	if err == nil {
		t.Error("100,000 unread answers were not enough")
	}
	eventually(t, "the other one is gone", func() bool { return sv.hub.Clients() == 1 })
	io.Copy(io.Discard, r.nc)
	good.do(`{"type":"submit","prompt":"hi"}`)
	good.until("the turn ends", idle)
	good.settle(sv)
}
