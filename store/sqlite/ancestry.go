package sqlite

import (
	"math"
	"sync"

	"harness"
)

// maxAncestries bounds the memory of lineages: about 50 kB. Those who connect at
// one time are few beside those who are connected.
const maxAncestries = 512

// ancestries remembers the lineages of sessions in use, which never change
// while the session is there, without where its log ends, which does.
type ancestries struct {
	mu       sync.Mutex // guards what follows
	known    map[harness.SessionID][]part
	removals int
}

// ancestry is the lineage of id with an open end.
func (s *Store) ancestry(c *conn, id harness.SessionID) ([]part, error) {
	a := &s.ancestries
	a.mu.Lock()
	parts, ok := a.known[id]
	removals := a.removals
	a.mu.Unlock()
	if ok {
		return parts, nil
	}
	parts, err := lineage(c, id)
	if err != nil {
		return nil, err
	}
	parts[0].limit = math.MaxInt64
	a.mu.Lock()
	defer a.mu.Unlock()
	if removals != a.removals || s.writer == nil { // it may be gone, or be changed by another process
		return parts, nil
	}
	if a.known == nil || len(a.known) >= maxAncestries {
		a.known = make(map[harness.SessionID][]part)
	}
	a.known[id] = parts
	return parts, nil
}

// removed forgets a session whose id may be used again. The writer calls it
// after the removal is committed and before anybody knows: earlier, a reader
// could find the session and remember it again; later, its successor could be
// read by the old lineage.
func (a *ancestries) removed(id harness.SessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.removals++
	delete(a.known, id)
}
