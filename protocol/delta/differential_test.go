package delta

import (
	"fmt"
	"testing"

	"harness"
	"harness/internal/object"
	"harness/internal/object/objecttest"
)

const (
	logs      = 520
	perLog    = 40 // events of a session
	perFrame  = 9  // events folded into one frame, at most
	fewestOps = 10_000
)

// The accumulator of the npm package assistant-stream, in strict mode, is fed
// the frames that a socket would carry: a state, somewhere in the session, and
// deltas with as many events as chance groups together. It must have our view
// after each frame, and every such view must be a state of S0 and S1 to a
// client that knows nothing else.
func TestJavaScriptClientsReachOurView(t *testing.T) {
	t.Parallel()
	node := objecttest.Node(t)
	ops, frames := 0, 0
	for s := range uint64(logs) {
		a := newAuthor(4, s, []int{0, 4, 15}[s%3])
		for range a.pick(30) {
			a.next()
		}
		first := 0
		if s%4 == 3 {
			first = a.pick(a.st.Count() + 1)
		}
		p := newProjector(a.st.Clone(), first)
		js := node.New(true)
		feed(t, js, appendState(nil, p.st, nil, first))
		var out object.Pending
		for left := perLog; left > 0; {
			var e harness.Event
			for n := 1 + a.pick(perFrame); n > 0 && left > 0; n, left = n-1, left-1 {
				e = a.next()
				p.project(e, &out)
			}
			ops, frames = ops+out.Len(), frames+1
			feed(t, js, appendDelta(nil, e.Seq, &out))
			out.Reset()
			what := fmt.Sprintf("session %d at %d", s, e.Seq)
			state := js.State()
			same(t, what, state, node.Normal(appendView(nil, p.st, nil, first)))
			if err := checkSeedState(state); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		js.Close()
	}
	t.Logf("%d sessions, %d frames, %d operations", logs, frames, ops)
	if ops < fewestOps {
		t.Errorf("only %d operations were tried", ops)
	}
}

func feed(t *testing.T, js *objecttest.Accumulator, frame []byte) {
	t.Helper()
	if err := js.Apply(frame); err != nil {
		t.Fatalf("JavaScript refuses %.2000s: %v", frame, err)
	}
}
