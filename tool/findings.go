package tool

import (
	"cmp"
	"slices"
	"sync"
)

// findings collects what files have, in whatever order they are searched, and
// knows when the first of them are enough.
type findings struct {
	limit int
	mode  string

	mu    sync.Mutex // guards what follows
	list  []numbered
	ended map[int]weight // files that ended out of order
	next  int            // all files before this one have ended
	first weight         // of those
	bytes int            // of all
	over  bool
}

// weight is what a file contributes to the limits.
type weight struct{ matches, bytes int }

type numbered struct {
	at int
	finding
}

// add takes what the file at this place of the walk has.
func (f *findings) add(at int, found finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := weight{f.shows(found), len(found.text) + len(found.name)}
	if found.count > 0 || found.skipped != "" {
		f.list = append(f.list, numbered{at, found})
		f.bytes += w.bytes
	} else {
		w.bytes = 0
	}
	if f.ended == nil {
		f.ended = make(map[int]weight)
	}
	f.ended[at] = w
	for {
		w, ok := f.ended[f.next]
		if !ok {
			break
		}
		delete(f.ended, f.next)
		f.next++
		f.first.matches, f.first.bytes = f.first.matches+w.matches, f.first.bytes+w.bytes
	}
	f.over = f.over || f.first.matches > f.limit || f.first.bytes > maxPrinted || f.bytes > 16*maxPrinted
}

// shows is how many entries a file has in the result.
func (f *findings) shows(found finding) int {
	if f.mode == "files" || f.mode == "count" {
		return min(found.count, 1)
	}
	return found.count
}

// enough reports whether files that were not begun cannot be shown.
func (f *findings) enough() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// ordered is what is shown, and whether there was more.
func (f *findings) ordered() (list []finding, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortFunc(f.list, func(a, b numbered) int { return cmp.Compare(a.at, b.at) })
	left, room := f.limit, maxPrinted
	for _, n := range f.list {
		found := n.finding
		if found.skipped == "" {
			if left == 0 || room < 0 {
				return list, true
			}
			if over := f.shows(found) - left; over > 0 {
				found.count = left
				found.text = found.text[:found.cuts[left-1]]
				more = true
			}
			left -= f.shows(found)
			room -= len(found.text) + len(found.name)
		}
		list = append(list, found)
	}
	return list, more || f.over
}
