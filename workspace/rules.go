package workspace

import (
	"io"
	"slices"

	"harness/workspace/folder"
	"harness/workspace/ignore"
	"harness/workspace/object"
)

// rules adds those of the directory itself.
func (s *scanner) rules(f *folder.Folder, at place, names []string) (*ignore.Rules, error) {
	rules := at.rules
	if _, ok := slices.BinarySearch(names, ".git"); ok {
		if text := readAt(f, ".git", "info", "exclude"); text != nil {
			rules = rules.Add(at.path, text)
		}
	}
	if _, ok := slices.BinarySearch(names, ".gitignore"); ok {
		if text := readAt(f, ".gitignore"); text != nil {
			rules = rules.Add(at.path, text)
		}
	}
	return rules, nil
}

// readAt returns the beginning of a file of rules, nil if it cannot be read.
func readAt(f *folder.Folder, path ...string) []byte {
	for _, name := range path[:len(path)-1] {
		sub, err := f.Open(name)
		if err != nil {
			return nil
		}
		defer sub.Close()
		f = sub
	}
	file, _, err := f.Read(path[len(path)-1])
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, ignore.MaxText))
	return text
}

// marked returns the entries that a mark has here, nil if the index has the same.
func (s *scanner) marked(at place) ([]Entry, error) {
	if at.mark == (object.ID{}) || at.before != nil && at.before.id == at.mark {
		return nil, nil
	}
	return entriesOf(s.store, at.mark)
}

func kept(entries []Entry, name string) bool {
	e := entryOf(entries, name)
	return e != nil && e.Kind != Skipped
}
