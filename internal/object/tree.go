package object

import (
	"fmt"
	"unicode/utf8"
)

// Tree is a document under operations. The zero value is null.
type Tree struct {
	// Lax skips an operation that cannot be applied instead of refusing its
	// batch, and takes an array index beyond the end for the end.
	Lax bool

	root    value
	changes []change // of the running batch, to take it back
	cut     uint64   // how often a value was taken out; Leaf compares it
}

// Apply applies ops in order. If one of them is refused, the document is as it
// was before the call; the error says which one and wraps the reason. A lax
// tree refuses nothing.
func (t *Tree) Apply(ops []Op) error {
	keep := !t.Lax && len(ops) > 1 // one operation alone changes all or nothing
	for i := range ops {
		if err := t.apply(&ops[i], keep); err != nil && !t.Lax {
			t.rollback()
			return fmt.Errorf("operation %d: %s %q: %w", i, ops[i].Kind, ops[i].Path, err)
		}
	}
	clear(t.changes)
	t.changes = t.changes[:0]
	return nil
}

// AppendJSON appends the document to dst, keys in the order of their creation.
func (t *Tree) AppendJSON(dst []byte) []byte { return appendValue(dst, t.root) }

// apply checks all of op before it changes anything.
func (t *Tree) apply(op *Op, keep bool) error {
	if op.Kind != Set && op.Kind != AppendText {
		return ErrKind
	}
	s, err := t.find(op.Path)
	if err != nil {
		return err
	}
	if op.Kind == Set {
		return t.set(s, op, keep)
	}
	leaf, ok := s.value.(*text)
	if !ok {
		return ErrString
	}
	if !utf8.ValidString(op.Text) {
		return ErrText
	}
	if keep {
		t.changes = append(t.changes, change{leaf: leaf, at: len(leaf.b)})
	}
	leaf.b = append(leaf.b, op.Text...)
	return nil
}

func (t *Tree) set(s spot, op *Op, keep bool) error {
	p := parser{in: op.Value}
	v, err := p.all()
	if err != nil {
		return err
	}
	if len(op.Path)+p.deepest > MaxDepth {
		return ErrDepth
	}
	for i := len(op.Path) - 1; i >= s.depth; i-- {
		o := &object{}
		o.add(op.Path[i], v)
		v = o
	}
	if keep {
		t.changes = append(t.changes, change{parent: s.parent, at: s.at, added: s.added, old: s.held})
	}
	if s.held != nil {
		t.cut++
	}
	switch c := s.parent.(type) {
	case *object:
		if s.added {
			c.add(op.Path[s.depth-1], v)
		} else {
			c.vals[s.at] = v
		}
	case *list:
		if s.added {
			c.items = append(c.items, v)
		} else {
			c.items[s.at] = v
		}
	default:
		t.root = v
	}
	return nil
}

// spot is where a path leads: the deepest place that exists or can be added,
// and what it holds.
type spot struct {
	parent value // *object, *list, or nil for the root
	at     int   // position in parent
	added  bool  // the position does not exist yet
	held   value // what the position holds
	depth  int   // how many segments led here; the others are to be created
	value  value // what the whole path leads to, nil if nothing
}

func (t *Tree) find(path []string) (spot, error) {
	s := spot{held: t.root}
	if len(path) > MaxDepth {
		return s, ErrDepth
	}
	for i, seg := range path {
		switch c := s.held.(type) {
		case nil:
			for _, seg := range path[i:] {
				if forbidden(seg) {
					return s, ErrUnsafe
				}
			}
			return s, nil
		case *object:
			if forbidden(seg) {
				return s, ErrUnsafe
			}
			s = spot{parent: c, at: c.find(seg), depth: i + 1}
			if s.added = s.at < 0; !s.added {
				s.held = c.vals[s.at]
			}
		case *list:
			if forbidden(seg) {
				return s, ErrUnsafe
			}
			at, err := place(seg, len(c.items), t.Lax)
			if err != nil {
				return s, err
			}
			s = spot{parent: c, at: at, added: at == len(c.items), depth: i + 1}
			if !s.added {
				s.held = c.items[at]
			}
		default:
			return s, ErrParent
		}
	}
	s.value = s.held
	return s, nil
}

// change is one step of a batch, with what is needed to take it back.
type change struct {
	leaf   *text // lengthened from at bytes, if not nil
	parent value // otherwise: the position at of parent was set
	at     int
	added  bool
	old    value
}

func (t *Tree) rollback() {
	for i := len(t.changes) - 1; i >= 0; i-- {
		ch := t.changes[i]
		switch c := ch.parent.(type) {
		case *object:
			if ch.added {
				c.pop()
			} else {
				c.vals[ch.at] = ch.old
			}
		case *list:
			if ch.added {
				c.items[len(c.items)-1] = nil
				c.items = c.items[:len(c.items)-1]
			} else {
				c.items[ch.at] = ch.old
			}
		default:
			if ch.leaf != nil {
				ch.leaf.b = ch.leaf.b[:ch.at]
			} else {
				t.root = ch.old
			}
		}
	}
	clear(t.changes)
	t.changes = t.changes[:0]
	t.cut++
}
