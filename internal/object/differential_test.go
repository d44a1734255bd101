package object_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"harness/internal/object"
	"harness/internal/object/objecttest"
)

const (
	frames    = 16 // per document
	batchSize = 5  // operations per frame, at most
	window    = 4  // frames folded into one
	seed      = 20240607
)

// Each document gets the same frames in Go and in JavaScript. What Go takes,
// the older generations must take as well and make the same of it; so must
// every generation of the operations after folding.
func TestRandomOperationsMeanTheSameInJavaScript(t *testing.T) {
	documents := 80
	if os.Getenv("LONG")+os.Getenv("CI") != "" {
		documents = 430
	}
	node := objecttest.Node(t)
	var tried tally
	for d := range documents {
		keys := ordinary
		if d%2 == 1 {
			keys = inherited // generation A cannot take these
		}
		c := newChance(seed, uint64(d), keys)
		r := newRivals(t, node, c.value(0), d%2 == 0)
		for f := range frames {
			batch := c.batch(r.tree.AppendJSON(nil), 1+c.IntN(batchSize))
			r.where = fmt.Sprintf("document %d, frame %d", d, f)
			r.apply(batch, &tried)
			if f%window == window-1 {
				r.flush(&tried)
			}
		}
		r.close()
	}
	t.Logf("%d documents: %+v", documents, tried)
	if tried.ops < 46*documents || tried.refused < documents || tried.sent > tried.taken*9/10 {
		t.Errorf("too little was tried: %+v", tried)
	}
}

// tally counts operations, refused frames, operations of the other frames, and
// what was sent of those after folding.
type tally struct{ ops, refused, taken, sent int }

// rivals are one document in Go and in every JavaScript accumulator.
type rivals struct {
	t     *testing.T
	node  *objecttest.Process
	where string

	tree, laxTree *object.Tree
	strict, lax   *objecttest.Accumulator
	older, merged []*objecttest.Accumulator
	pending       object.Pending
}

func newRivals(t *testing.T, node *objecttest.Process, doc []byte, withA bool) *rivals {
	r := &rivals{t: t, node: node, tree: set(t, string(doc)), laxTree: set(t, string(doc))}
	r.laxTree.Lax = true
	r.strict, r.lax = node.New(true), node.New(false)
	r.older = append(r.older, node.NewGeneration(objecttest.B, true))
	r.merged = append(r.merged, node.New(true), node.NewGeneration(objecttest.B, true))
	if withA {
		r.older = append(r.older, node.NewGeneration(objecttest.A, true))
		r.merged = append(r.merged, node.NewGeneration(objecttest.A, true))
	}
	r.send(encode([]object.Op{{Kind: object.Set, Value: doc}}), r.all()...)
	return r
}

func (r *rivals) all() []*objecttest.Accumulator {
	all := []*objecttest.Accumulator{r.strict, r.lax}
	return append(append(all, r.older...), r.merged...)
}

// apply gives batch to everybody but those who wait for the folded form.
func (r *rivals) apply(batch []object.Op, tried *tally) {
	r.t.Helper()
	before, frame := r.tree.AppendJSON(nil), encode(batch)
	tried.ops += len(batch)

	ours, theirs := r.tree.Apply(batch), r.strict.Apply(frame)
	if got, want := said(ours), said(theirs); got != want {
		r.t.Fatalf("%s: %s\n to %s\n we say %s (%v)\n they say %s (%v)", r.where, frame, before, got, ours, want, theirs)
	}
	r.same(frame, r.tree, r.strict)

	if err := r.laxTree.Apply(batch); err != nil {
		r.t.Fatalf("%s: lax: %v", r.where, err)
	}
	r.send(frame, r.lax)
	r.same(frame, r.laxTree, r.lax)

	if ours != nil {
		tried.refused++
		if after := r.tree.AppendJSON(nil); !bytes.Equal(before, after) {
			r.t.Fatalf("%s: refused %s\n changed %s\n to %s", r.where, frame, before, after)
		}
		return
	}
	tried.taken += len(batch)
	r.send(frame, r.older...)
	r.same(frame, r.tree, r.older...)
	for i := range batch {
		r.pending.Add(&batch[i])
	}
}

// flush gives the folded operations to those who wait for them.
func (r *rivals) flush(tried *tally) {
	r.t.Helper()
	tried.sent += r.pending.Len()
	frame := r.pending.AppendJSON(nil)
	r.pending.Reset()
	r.send(frame, r.merged...)
	r.same(frame, r.tree, r.merged...)
}

func (r *rivals) send(frame []byte, to ...*objecttest.Accumulator) {
	r.t.Helper()
	for _, acc := range to {
		if err := acc.Apply(frame); err != nil {
			r.t.Fatalf("%s: generation %s refuses %s: %v", r.where, acc.Generation(), frame, err)
		}
	}
}

func (r *rivals) same(frame []byte, tree *object.Tree, with ...*objecttest.Accumulator) {
	r.t.Helper()
	want := r.node.Normal(tree.AppendJSON(nil))
	for _, acc := range with {
		if got := acc.State(); !bytes.Equal(got, want) {
			r.t.Fatalf("%s: %s\n generation %s has %s\n we have %s", r.where, frame, acc.Generation(), got, want)
		}
	}
}

func (r *rivals) close() {
	for _, acc := range r.all() {
		acc.Close()
	}
}

func said(err error) string {
	if err == nil {
		return "ok"
	}
	return refusal(err)
}
