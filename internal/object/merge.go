package object

import (
	"bytes"
	"slices"
)

const (
	// foldReach is how many pending operations a new one is compared with; it
	// bounds the cost of one operation. A frame has a few texts that stream side
	// by side, and folding less is always correct.
	foldReach = 64

	// keptOps and keptBytes bound what Reset keeps: a usual frame, not the
	// largest one ever.
	keptOps   = 256
	keptBytes = 64 << 10
)

// Pending is the operations that wait to be sent, folded so that whoever
// applies the folded ones reaches the state that the unfolded ones reach, key
// order included. It expects operations that can be applied; one that cannot
// may vanish in another. The zero value is ready.
//
// A new operation on a path folds into the last one on that very path, unless
// an operation after that one is on an ancestor or descendant of the path. What
// folds moves to the earlier place, so that parents and array elements are
// created in their order.
type Pending struct {
	ops []pending // beyond its length, buffers to use again
	enc Encoder
}

// pending is an operation in its JSON form, less its end.
type pending struct {
	path []string
	buf  []byte
	open bool // buf ends inside a string, which may grow
}

// AppendText adds an append-text. An empty one is no operation. Bytes of s
// that are not valid UTF-8 count as U+FFFD each; see Tail.
func (p *Pending) AppendText(path []string, s string) {
	if s == "" {
		return
	}
	i := p.last(path)
	if i < 0 || !p.ops[i].open {
		i = p.push(path)
		p.ops[i].buf = append(p.ops[i].buf, p.enc.textHead(path)...)
		p.ops[i].open = true
	}
	p.ops[i].buf = appendEscaped(p.ops[i].buf, s)
}

// Set adds a set. v is one JSON value as Normalize returns it; it is copied.
func (p *Pending) Set(path []string, v []byte) {
	op := p.set(path)
	v = bytes.TrimSpace(v)
	if op.open = len(v) > 1 && v[0] == '"'; op.open {
		v = v[:len(v)-1]
	}
	op.buf = append(op.buf, v...)
}

// SetText adds a set of the string s, under AppendText's rule for bytes.
func (p *Pending) SetText(path []string, s string) {
	op := p.set(path)
	op.buf = append(op.buf, '"')
	op.buf = appendEscaped(op.buf, s)
	op.open = true
}

// Add adds op.
func (p *Pending) Add(op *Op) {
	if op.Kind == AppendText {
		p.AppendText(op.Path, op.Text)
	} else {
		p.Set(op.Path, op.Value)
	}
}

// Len returns how many operations are left after folding.
func (p *Pending) Len() int { return len(p.ops) }

// AppendJSON appends the operations as a JSON array.
func (p *Pending) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range p.ops {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, p.ops[i].buf...)
		if p.ops[i].open {
			dst = append(dst, '"')
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// Reset forgets all operations and keeps buffers for the next ones.
func (p *Pending) Reset() {
	p.ops = p.ops[:0]
	if cap(p.ops) > keptOps {
		p.ops = nil
	}
	size, all := 0, p.ops[:cap(p.ops)]
	for i := range all {
		if size += cap(all[i].buf); size > keptBytes {
			clear(all[i:])
			break
		}
	}
}

// set returns the operation that is to be a set on path, without its value.
func (p *Pending) set(path []string) *pending {
	if len(path) == 0 {
		p.Reset()
	}
	i := p.last(path)
	if i < 0 {
		i = p.push(path)
	}
	op := &p.ops[i]
	op.buf = appendHead(op.buf[:0], Set, path)
	return op
}

func (p *Pending) push(path []string) int {
	n := len(p.ops)
	if n < cap(p.ops) {
		p.ops = p.ops[:n+1]
	} else {
		p.ops = append(p.ops, pending{})
	}
	op := &p.ops[n]
	op.path, op.buf, op.open = append(op.path[:0], path...), op.buf[:0], false
	return n
}

// last returns the pending operation into which one on path may fold, or -1.
func (p *Pending) last(path []string) int {
	for i := len(p.ops) - 1; i >= max(0, len(p.ops)-foldReach); i-- {
		at := p.ops[i].path
		if n := min(len(at), len(path)); slices.Equal(at[:n], path[:n]) {
			if len(at) == len(path) {
				return i
			}
			return -1
		}
	}
	return -1
}
