package native

import (
	"slices"

	"harness"
)

// begun is where a turn began, and where its prompt is: right before it, or
// long before if it had to wait.
type begun struct{ turn, prompt harness.Seq }

// start is the place in the log from which the conversation can be folded again.
func (c *conversation) start() harness.Seq {
	seq := c.seq + 1
	for _, r := range c.rounds { // a prompt may have waited since before the first
		if r.seq > 0 {
			seq = min(seq, r.seq)
		}
	}
	if c.summary != "" && c.summed > 0 {
		seq = min(seq, c.summed)
	}
	for _, w := range slices.Concat(c.queue, c.steers) {
		if w.seq > 0 {
			seq = min(seq, w.seq)
		}
	}
	for _, b := range slices.Backward(c.begun) { // a turn takes the prompt that waits longest
		if b.turn >= seq {
			seq = min(seq, b.prompt)
		}
	}
	return max(seq, 1) - 1
}

// forget drops turns that are of no use any more.
func (c *conversation) forget() {
	from := c.start()
	c.begun = slices.DeleteFunc(slices.Clone(c.begun), func(b begun) bool { return b.turn <= from })
}

// clone is a copy that can go on by itself.
func (c *conversation) clone() *conversation {
	d := *c
	d.rounds = make([]*round, len(c.rounds))
	copies := make(map[*call]*call)
	for i, r := range c.rounds {
		n := *r
		n.said, n.text, n.calls = slices.Clip(n.said), slices.Clip(n.text), make([]*call, len(r.calls))
		for j, k := range r.calls {
			n.calls[j] = new(*k)
			copies[k] = n.calls[j]
		}
		d.rounds[i] = &n
	}
	d.turn.calls = slices.Clone(c.turn.calls)
	for i, k := range d.turn.calls {
		if n := copies[k]; n != nil {
			d.turn.calls[i] = n
		}
	}
	d.queue, d.steers, d.begun = slices.Clone(c.queue), slices.Clone(c.steers), slices.Clip(c.begun)
	d.turn.ended = slices.Clip(c.turn.ended)
	if c.turn.unfit != nil {
		d.turn.unfit = cloned(c.turn.unfit)
	}
	if c.turn.asked != nil {
		d.turn.asked = cloned(c.turn.asked)
	}
	if c.turn.items != nil {
		d.turn.items = cloned(c.turn.items)
	}
	return &d
}

func cloned[K comparable, V any](m map[K]V) map[K]V {
	n := make(map[K]V, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
}
