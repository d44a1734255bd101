package workspace

import (
	"sort"

	"harness/workspace/object"
)

// entriesOf reads a directory of a snapshot.
func entriesOf(s *object.Store, id object.ID) ([]Entry, error) {
	data, err := s.Get(id)
	if err != nil {
		return nil, err
	}
	return decodeEntries(data)
}

func entryOf(entries []Entry, name string) *Entry {
	i := sort.Search(len(entries), func(i int) bool { return entries[i].Name >= name })
	if i < len(entries) && entries[i].Name == name {
		return &entries[i]
	}
	return nil
}

// diff calls found for every path at which two directories differ, sorted by
// path, parents first. An entry is nil where there is nothing. Of two
// directories only their modes are compared; what they hold is visited after.
// Directories of one id are not read.
func diff(s *object.Store, dir string, a, b object.ID, found func(path string, a, b *Entry)) error {
	if a == b {
		return nil
	}
	var as, bs []Entry
	var err error
	if a != (object.ID{}) {
		if as, err = entriesOf(s, a); err != nil {
			return err
		}
	}
	if b != (object.ID{}) {
		if bs, err = entriesOf(s, b); err != nil {
			return err
		}
	}
	for len(as) > 0 || len(bs) > 0 {
		var ea, eb *Entry
		if len(bs) == 0 || len(as) > 0 && as[0].Name <= bs[0].Name {
			ea = &as[0]
		}
		if len(as) == 0 || len(bs) > 0 && bs[0].Name <= as[0].Name {
			eb = &bs[0]
		}
		if ea != nil {
			as = as[1:]
		}
		if eb != nil {
			bs = bs[1:]
		}
		if err := diffEntry(s, dir, ea, eb, found); err != nil {
			return err
		}
	}
	return nil
}

func diffEntry(s *object.Store, dir string, a, b *Entry, found func(path string, a, b *Entry)) error {
	if a != nil && b != nil && *a == *b {
		return nil
	}
	var name string
	var below [2]object.ID
	for i, e := range []*Entry{a, b} {
		if e != nil {
			name = e.Name
			if e.Kind == Dir {
				below[i] = e.ID
			}
		}
	}
	path := join(dir, name)
	if a == nil || b == nil || a.Kind != Dir || b.Kind != Dir || a.Mode != b.Mode {
		found(path, a, b)
	}
	return diff(s, path, below[0], below[1], found)
}
