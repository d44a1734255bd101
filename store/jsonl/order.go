package jsonl

import (
	"cmp"
	"slices"

	"harness"
)

// blockRows bounds a block of the order: moving a row costs a copy of so many
// keys at most.
const blockRows = 512

// key is what orders a list: the newest update first, to the millisecond, which
// is the log's precision, then by id, descending.
type key struct {
	updated int64
	id      harness.SessionID
}

func keyOf(r harness.Summary) key { return key{r.Updated.UnixMilli(), r.Session} }

func newestFirst(a, b key) int {
	return cmp.Or(cmp.Compare(b.updated, a.updated), cmp.Compare(b.id, a.id))
}

// order is the threads in the order of lists, in sorted blocks, none empty.
type order struct{ blocks [][]key }

// block is the index of the block where k belongs.
func (o *order) block(k key) int {
	n, _ := slices.BinarySearchFunc(o.blocks, k, func(b []key, k key) int { return newestFirst(b[len(b)-1], k) })
	return min(n, len(o.blocks)-1)
}

func (o *order) insert(k key) {
	if len(o.blocks) == 0 {
		o.blocks = [][]key{{k}}
		return
	}
	n := o.block(k)
	at, found := slices.BinarySearchFunc(o.blocks[n], k, newestFirst)
	if found {
		return
	}
	b := slices.Insert(o.blocks[n], at, k)
	o.blocks[n] = b
	if len(b) > blockRows {
		half := len(b) / 2
		o.blocks[n] = slices.Clip(b[:half])
		o.blocks = slices.Insert(o.blocks, n+1, slices.Clone(b[half:]))
	}
}

func (o *order) remove(k key) {
	if len(o.blocks) == 0 {
		return
	}
	n := o.block(k)
	at, found := slices.BinarySearchFunc(o.blocks[n], k, newestFirst)
	if !found {
		return
	}
	o.blocks[n] = slices.Delete(o.blocks[n], at, at+1)
	if len(o.blocks[n]) == 0 {
		o.blocks = slices.Delete(o.blocks, n, n+1)
	}
}

// after calls yield with the keys behind k, all if k is nil, until it says no.
func (o *order) after(k *key, yield func(key) bool) {
	n, at := 0, 0
	if k != nil && len(o.blocks) > 0 {
		n = o.block(*k)
		var found bool
		if at, found = slices.BinarySearchFunc(o.blocks[n], *k, newestFirst); found {
			at++
		}
	}
	for ; n < len(o.blocks); n, at = n+1, 0 {
		for _, k := range o.blocks[n][at:] {
			if !yield(k) {
				return
			}
		}
	}
}
