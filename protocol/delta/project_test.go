package delta

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"harness"
	"harness/internal/object"
)

// client applies frames as assistant-stream does.
type client struct {
	tb   testing.TB
	tree object.Tree
}

func newClient(tb testing.TB, view []byte) *client {
	c := &client{tb: tb}
	c.apply([]object.Op{{Kind: object.Set, Value: view}})
	return c
}

func (c *client) apply(ops []object.Op) {
	c.tb.Helper()
	if err := c.tree.Apply(ops); err != nil {
		c.tb.Fatalf("%v\n operations %.2000s\n to %.2000s", err, mustJSON(c.tb, ops), c.tree.AppendJSON(nil))
	}
}

// take applies and forgets what is pending.
func (c *client) take(p *object.Pending) []object.Op {
	c.tb.Helper()
	var ops []object.Op
	raw := p.AppendJSON(nil)
	if err := json.Unmarshal(raw, &ops); err != nil {
		c.tb.Fatalf("%v in %s", err, raw)
	}
	p.Reset()
	c.apply(ops)
	return ops
}

// canonical is a view with sorted keys and without what deltas cannot remove:
// an error of null, pending approvals of [].
func canonical(tb testing.TB, view []byte) []byte {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(view))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		tb.Fatalf("%v in %s", err, view)
	}
	if e, ok := v["error"]; ok && e == nil {
		delete(v, "error")
	}
	if a, ok := v["pendingApprovals"].([]any); ok && len(a) == 0 {
		delete(v, "pendingApprovals")
	}
	return mustJSON(tb, v)
}

func mustJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func same(tb testing.TB, what string, got, want []byte) {
	tb.Helper()
	if g, w := canonical(tb, got), canonical(tb, want); !bytes.Equal(g, w) {
		i := 0
		for i < min(len(g), len(w)) && g[i] == w[i] {
			i++
		}
		i = max(0, i-120)
		tb.Fatalf("%s: the client has\n …%.400s\n we have\n …%.400s", what, g[i:], w[i:])
	}
}

// authors is how many are tried: more with LONG=1.
func authors(short, long uint64) uint64 {
	if os.Getenv("LONG") != "" {
		return long
	}
	return short
}

// Whoever has the old view and applies an event's operations has the new one,
// whatever the event, and its messages are always S0's.
func TestOperationsOfAnEventTurnTheOldViewIntoTheNew(t *testing.T) {
	t.Parallel()
	events, ops := 0, 0
	for s := range authors(40, 120) {
		a := newAuthor(1, s, []int{0, 3, 12}[s%3])
		follow(t, a, 70, fmt.Sprintf("log %d", s), func(n int) { ops += n })
		events += 70
	}
	t.Logf("%d events, %d operations", events, ops)
}

// follow projects n events of a one by one and compares after each.
func follow(tb testing.TB, a *author, n int, what string, count func(ops int)) {
	tb.Helper()
	p := newProjector(new(harness.State), 0)
	c := newClient(tb, appendView(nil, p.st, nil, 0))
	var out object.Pending
	for range n {
		e := a.next()
		p.project(e, &out)
		count(len(c.take(&out)))
		view := appendView(nil, p.st, nil, 0)
		same(tb, fmt.Sprintf("%s: %s at %d", what, e.Type(), e.Seq), c.tree.AppendJSON(nil), view)
		for _, doc := range [][]byte{view, c.tree.AppendJSON(nil)} {
			if err := checkSeedState(doc); err != nil {
				tb.Fatalf("%s: %s at %d: %v\n in %.2000s", what, e.Type(), e.Seq, err, doc)
			}
		}
	}
}

// A window that opens in the middle of a session shows the messages from there
// on, under indices of its own, and stays right.
func TestAWindowStaysConsistentFromTheMiddleOfASession(t *testing.T) {
	t.Parallel()
	for s := range authors(20, 60) {
		a := newAuthor(2, s, []int{0, 5}[s%2])
		for range 20 + a.pick(60) {
			a.next()
		}
		st := a.st.Clone()
		first := a.pick(st.Count() + 1)
		p := newProjector(st, first)
		c := newClient(t, appendView(nil, st, nil, first))
		var out object.Pending
		for range 60 {
			e := a.next()
			p.project(e, &out)
			c.take(&out)
			same(t, fmt.Sprintf("log %d from %d: %s at %d", s, first, e.Type(), e.Seq), c.tree.AppendJSON(nil), appendView(nil, st, nil, first))
		}
	}
}

// Messages may move to the store between events, and states may have been
// stored and read back: no operation depends on it, and a view is the same.
func TestSealedMessagesAreTheSameToClients(t *testing.T) {
	t.Parallel()
	for s := range uint64(30) {
		a := newAuthor(3, s, 0)
		st := new(harness.State)
		p := newProjector(st, 0)
		c := newClient(t, appendView(nil, st, nil, 0))
		var sealed [][]byte
		var out object.Pending
		for i := range 100 {
			e := a.next()
			p.project(e, &out)
			c.take(&out)
			if i%7 == 0 {
				n := p.st.Sealable()
				for _, m := range p.st.Messages[:n] {
					sealed = append(sealed, harness.EncodeMessage(m))
				}
				p.st.Seal(n)
			}
			if i%31 == 0 {
				again, err := harness.DecodeState(harness.EncodeState(p.st))
				if err != nil {
					t.Fatal(err)
				}
				p = newProjector(again, 0)
			}
			same(t, fmt.Sprintf("log %d: %s at %d", s, e.Type(), e.Seq), c.tree.AppendJSON(nil), appendView(nil, p.st, sealed, 0))
		}
		if len(sealed) == 0 {
			t.Fatalf("log %d: nothing was sealed", s)
		}
	}
}

// The author's events, made from bytes.
func FuzzProject(f *testing.F) {
	f.Add([]byte("a few bytes choose every event and everything in it"))
	f.Add(bytes.Repeat([]byte{0, 7, 3, 200, 41, 9, 15, 1}, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := &author{odd: 2}
		a.pick = func(n int) int {
			if len(data) == 0 {
				return 0
			}
			v := int(data[0])
			data = data[1:]
			return v % n
		}
		p := newProjector(new(harness.State), 0)
		w := newProjector(new(harness.State), 2)
		c, cw := newClient(t, appendView(nil, p.st, nil, 0)), newClient(t, appendView(nil, w.st, nil, 2))
		var out, outw object.Pending
		for i := 0; i < 200 && len(data) > 0; i++ {
			e := a.next()
			p.project(e, &out)
			w.project(e, &outw)
			c.take(&out)
			same(t, string(e.Type()), c.tree.AppendJSON(nil), appendView(nil, p.st, nil, 0))
			if i%3 == 0 {
				cw.take(&outw)
				same(t, "window: "+string(e.Type()), cw.tree.AppendJSON(nil), appendView(nil, w.st, nil, 2))
			}
		}
		if err := checkSeedState(c.tree.AppendJSON(nil)); err != nil {
			t.Fatal(err)
		}
	})
}
