package workspace

import (
	"context"
	"slices"
	"strings"
	"time"

	"harness"
	"harness/workspace/object"
)

// takeResult writes the mark after a rewind: the tree as the rewind left it.
// It is made from what was done, not from another look at the tree, so what
// somebody else changes meanwhile is not taken for the session's doing.
func (t *Tree) takeResult(ctx context.Context, s *object.Store, session harness.SessionID, now *dir, res Result) (Mark, error) {
	m := res.Safety
	m.Session, m.Phase, m.Time = session, After, time.Now()
	edits := map[string][]Entry{} // by directory; Kind 0: gone
	edit := func(c Change, e Entry) {
		dir, name := split(c.path)
		e.Name = name
		edits[dir] = append(edits[dir], e)
		for dir != "" {
			dir, _ = split(dir)
			if _, ok := edits[dir]; ok {
				break
			}
			edits[dir] = nil
		}
	}
	for _, c := range res.Restore {
		edit(c, *c.want)
		if c.now == nil {
			m.Files++
		}
	}
	for _, c := range res.Delete {
		edit(c, Entry{})
		m.Files--
	}
	w, err := s.Writer()
	if err != nil {
		return m, err
	}
	defer w.Abort()
	p := patcher{writer: w, edits: edits}
	root, err := p.dir("", now)
	if err != nil {
		return m, err
	}
	if err := w.Commit(); err != nil {
		return m, err
	}
	m.Root = root.String()
	return m, t.write(ctx, s, &m)
}

// patcher makes a tree of another one and edits.
type patcher struct {
	writer  *object.Writer
	edits   map[string][]Entry
	scratch []byte
}

// dir returns the id of the directory at path after the edits; d is what it
// was, nil if it was not there.
func (p *patcher) dir(path string, d *dir) (object.ID, error) {
	var entries []Entry
	if d != nil {
		for i := range d.nodes {
			entries = append(entries, d.nodes[i].Entry)
		}
	}
	for _, e := range p.edits[path] {
		i, found := slices.BinarySearchFunc(entries, e.Name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
		switch {
		case e.Kind == 0 && found:
			entries = slices.Delete(entries, i, i+1)
		case e.Kind != 0 && found:
			entries[i] = e
		case e.Kind != 0:
			entries = slices.Insert(entries, i, e)
		}
	}
	for i := range entries {
		e := &entries[i]
		if e.Kind != Dir {
			continue
		}
		below := join(path, e.Name)
		old := d.child(e.Name)
		if _, edited := p.edits[below]; !edited && old != nil && old.Kind == Dir {
			e.ID = old.ID
			continue
		}
		var sub *dir
		if old != nil {
			sub = old.sub
		}
		var err error
		if e.ID, err = p.dir(below, sub); err != nil {
			return object.ID{}, err
		}
	}
	return p.writer.Put(encodeEntries(nil, len(entries), func(i int) *Entry { return &entries[i] }), &p.scratch)
}
