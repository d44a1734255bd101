package gateway

import (
	"hash/maphash"
	"sync"

	"harness"
)

// maxOwners bounds how many owners are remembered: the sessions of a busy day,
// at some 200 bytes each. One that was forgotten costs a look into the index.
const maxOwners = 16 << 10

const ownerShards = 16 // so that watchers on all cores seldom meet

// owners remembers whose a session is. An owner never changes while the session
// exists; forget says that it may have ceased to.
type owners struct {
	none   bool // nothing is remembered
	seed   maphash.Seed
	shards [ownerShards]ownerShard
}

type ownerShard struct {
	mu     sync.Mutex // guards what follows
	epoch  uint64     // how often something here was forgotten or set
	byID   map[harness.SessionID]*owned
	newest owned // the ring's head: next is the newest, prev the oldest
}

// home is whose a session is, and where it works; an empty directory is one
// that nobody has looked for.
type home struct{ user, dir string }

type owned struct {
	id         harness.SessionID
	home       home
	prev, next *owned
}

func newOwners() *owners {
	o := &owners{seed: maphash.MakeSeed()}
	for i := range o.shards {
		s := &o.shards[i]
		s.byID = make(map[harness.SessionID]*owned)
		s.newest.prev, s.newest.next = &s.newest, &s.newest
	}
	return o
}

func (o *owners) shard(id harness.SessionID) *ownerShard {
	return &o.shards[maphash.String(o.seed, string(id))%ownerShards]
}

// get is the owner, if known, and the epoch that learn wants if not.
func (o *owners) get(id harness.SessionID) (whose home, epoch uint64, ok bool) {
	s := o.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byID[id]
	if e == nil || o.none {
		return home{}, s.epoch, false
	}
	if s.newest.next != e {
		e.unlink()
		s.front(e)
	}
	return e.home, s.epoch, true
}

// learn remembers what was looked up since get, unless something was forgotten
// or set meanwhile: then the look may be of an earlier session of that name.
func (o *owners) learn(id harness.SessionID, whose home, epoch uint64) {
	s := o.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch == epoch {
		s.put(id, whose)
	}
}

// set remembers the owner of a session that was just made.
func (o *owners) set(id harness.SessionID, whose home) {
	s := o.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	s.put(id, whose)
}

// forget says that the session may be gone.
func (o *owners) forget(id harness.SessionID) {
	s := o.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	if e := s.byID[id]; e != nil {
		e.unlink()
		delete(s.byID, id)
	}
}

// len is how many are remembered.
func (o *owners) len() (n int) {
	for i := range o.shards {
		s := &o.shards[i]
		s.mu.Lock()
		n += len(s.byID)
		s.mu.Unlock()
	}
	return n
}

func (s *ownerShard) put(id harness.SessionID, whose home) {
	e := s.byID[id]
	switch {
	case e != nil:
		e.unlink()
	case len(s.byID) >= maxOwners/ownerShards:
		e = s.newest.prev
		e.unlink()
		delete(s.byID, e.id)
	default:
		e = new(owned)
	}
	e.id, e.home = id, whose
	s.byID[id] = e
	s.front(e)
}

func (s *ownerShard) front(e *owned) {
	e.prev, e.next = &s.newest, s.newest.next
	e.prev.next, e.next.prev = e, e
}

func (e *owned) unlink() { e.prev.next, e.next.prev = e.next, e.prev }
