package object

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Leaf is a string of a tree, found once and lengthened often.
type Leaf struct {
	tree *Tree
	path []string
	text *text
	cut  uint64
}

// Leaf returns the string at path, or ErrString or another refusal of an
// append-text there.
func (t *Tree) Leaf(path []string) (*Leaf, error) {
	l := &Leaf{tree: t, path: slices.Clone(path)}
	return l, l.resolve()
}

func (l *Leaf) resolve() error {
	s, err := l.tree.find(l.path)
	if err == nil {
		var ok bool
		if l.text, ok = s.value.(*text); !ok {
			err = ErrString
		}
	}
	if err != nil {
		l.text = nil
		return fmt.Errorf("leaf %q: %w", l.path, err)
	}
	l.cut = l.tree.cut
	return nil
}

// Append does what an append-text with the leaf's path would do now.
func (l *Leaf) Append(s string) error {
	if l.cut != l.tree.cut || l.text == nil {
		if err := l.resolve(); err != nil {
			return err
		}
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("leaf %q: %w", l.path, ErrText)
	}
	l.text.b = append(l.text.b, s...)
	return nil
}
