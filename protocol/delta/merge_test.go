package delta_test

import (
	"bytes"
	"testing"
	"time"

	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// Text that streams fast is merged: the first piece comes at once, the others
// at most once in a window, whatever the kernel does.
func TestABurstOfTokensBecomesFewFrames(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "gate go\nstream 1000 20us word\ngate end", &kernel.Options{Window: -1}, nil)
	c := sv.connect("?userId=u")
	c.do(`{"type":"submit","prompt":"go"}`)
	c.until("it runs", func(s state) bool { return s.Status == "running" && len(s.Messages) == 2 })
	begin, before := time.Now(), len(c.kinds)
	sv.engine.Open("go")
	first := c.until("the first word", func(s state) bool { return s.last().Content != "" }).last().Content
	c.until("all words", func(s state) bool { return len(s.last().Content) == 4000 })
	took, frames := time.Since(begin), len(c.kinds)-before
	if len(first) > 2000 {
		t.Errorf("the first frame has %d of 4000 bytes: it waited", len(first))
	}
	if most := int(took/(16*time.Millisecond)) + 3; frames > most {
		t.Errorf("1000 tokens in %v came as %d frames, want at most %d", took, frames, most)
	}
	t.Logf("1000 tokens in %v: %d frames", took, frames)
	sv.engine.Open("end")
	c.until("the turn ends", idle)
	c.settle(sv)
}

// What is not text does not wait, and takes the text before it along.
func TestOnlyTextWaitsForTheWindow(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "say a\nsay b\ncall t => r\nsay c\nsay d\n", &kernel.Options{Window: -1}, &delta.Options{Window: time.Hour})
	c := sv.connect("?userId=u")
	c.do(`{"type":"submit","prompt":"go"}`)
	s := c.until("the turn ends", idle)
	if s.last().Content != "abcd" {
		t.Errorf("state %s", c.json())
	}
	c.settle(sv)
}

// A stream slower than the window is sent piece by piece as it comes.
func TestASparseStreamIsNotDelayed(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "say 1\ngate a\nsay 2\ngate b\nsay 3\ngate c\nsay 4\ngate d\n", &kernel.Options{Window: -1}, &delta.Options{Window: 300 * time.Millisecond})
	c := sv.connect("?userId=u")
	c.do(`{"type":"submit","prompt":"go"}`)
	want := ""
	for i, gate := range []string{"a", "b", "c", "d"} {
		want += string(rune('1' + i))
		c.until("it said "+want, func(s state) bool { return s.last().Content == want })
		<-time.After(310 * time.Millisecond) // a stream is sparse only if time passes
		before := time.Now()
		sv.engine.Open(gate)
		if gate == "d" {
			break
		}
		next := want + string(rune('2'+i))
		c.until("it says more", func(s state) bool { return s.last().Content == next })
		if took := time.Since(before); took > 250*time.Millisecond {
			t.Errorf("%q came %v after it was said", next, took)
		}
	}
	c.until("the turn ends", idle)
	c.settle(sv)
}

// Without a window every update is a frame of its own.
func TestNoWindow(t *testing.T) {
	t.Parallel()
	sv := serveOn(t, memory.New(), "gate go\nstream 50 2ms x\n", &kernel.Options{Window: -1}, &delta.Options{Window: -1})
	r := sv.raw("?userId=u", 0)
	c := r.client()
	c.take(r.text())
	r.send(1, []byte(`{"type":"commands","commands":[{"type":"submit","prompt":"go"}]}`))
	sv.engine.Open("go")
	texts := 0
	for !idle(c.state()) {
		b := r.text()
		if err := c.take(b); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(`append-text`)) {
			texts++
		}
	}
	if texts < 25 {
		t.Errorf("50 tokens, 2 ms apart, came in %d frames", texts)
	}
}
