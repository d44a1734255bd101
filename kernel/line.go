package kernel

import (
	"slices"
	"time"

	"harness"
)

// line is which background sessions wait for a place, and whose turn it is. It
// is pure, and a fold of the sessions' rows: after a restart the rows of the
// store make the same line.
//
// Users take turns, those who were served longest ago first; of each user's
// sessions the one that was queued first goes first. A session that has begun
// keeps the place it had, so what was interrupted is gone on with before the
// user's next one begins.
type line struct {
	slots  int
	places map[harness.SessionID]*place
	users  map[string]*customer
	past   map[string]time.Time // when users without a place were last served
	last   time.Time            // when somebody was last served
	busy   int                  // places that are taken or promised
	idle   int                  // places whose engine waits for people
	order  []harness.SessionID  // who goes when; nil: to be found out
	where  map[harness.SessionID]int
	alarm  time.Time // when time alone may change something; zero: never
}

// place is a session that waits, or runs.
type place struct {
	id      harness.SessionID
	user    string
	seq     harness.Seq
	queued  time.Time
	notYet  time.Time // not before
	expires time.Time
	state   occupancy
	alive   bool        // it has, or may have, an engine in this process
	asked   harness.Seq // what its row was when it was promised a place
}

// occupancy is what a session is to the line.
type occupancy int

const (
	waits    occupancy = iota
	promised           // its session is about to be told
	runs
	asks // it waits for people, with its engine
)

// customer is a user with places.
type customer struct {
	served time.Time // zero: not that anybody knows
	queue  []*place  // those that wait, in order
	places int
}

// waitingPerSlot bounds the engines that wait for people: they take no slot,
// else a few unanswered questions would stop everybody's work; but each is a
// process with its memory.
const waitingPerSlot = 8

func newLine(slots int) *line {
	return &line{slots: slots, places: map[harness.SessionID]*place{}, users: map[string]*customer{}, past: map[string]time.Time{}}
}

// see takes note of a session's row, and reports whether that changes anything
// for others: most rows are of sessions that run, and go on running.
func (l *line) see(r harness.Summary) bool {
	if r.Kind != harness.Background || r.SpawnedBy != "" {
		return false
	}
	old := l.places[r.Session]
	switch {
	case old != nil && r.Seq < old.seq:
		return false
	case old != nil && old.state == runs && r.Status == harness.Running && r.Queued.IsZero():
		old.seq = r.Seq
		return false
	}
	p := &place{id: r.Session, user: r.User, seq: r.Seq, queued: r.Queued, notYet: r.Retry, expires: r.Expires}
	if old != nil {
		p.alive = old.alive
	}
	switch {
	case !r.Queued.IsZero():
		p.state, p.alive = waits, false
		if old != nil && old.state == promised { // the promise is answered, not overtaken
			p.state, p.alive, p.asked = promised, old.alive, old.asked
		}
	case r.Status == harness.Running || r.Status == harness.Recovering:
		p.state, p.alive = runs, true
	case r.Status == harness.AwaitingApproval && p.alive:
		p.state = asks
	default:
		p = nil
	}
	l.put(old, p)
	return true
}

// put replaces a place; either may be nil.
func (l *line) put(old, p *place) {
	l.order = nil
	if old != nil {
		u := l.users[old.user]
		if at, ok := slices.BinarySearchFunc(u.queue, old, sooner); ok && old.state == waits {
			u.queue = slices.Delete(u.queue, at, at+1)
		}
		u.places--
		l.count(old.state, -1)
		delete(l.places, old.id)
		if u.places == 0 && (p == nil || p.user != old.user) {
			l.leave(old.user)
		}
	}
	if p == nil {
		return
	}
	u := l.users[p.user]
	if u == nil {
		u = &customer{served: l.past[p.user]}
		l.users[p.user] = u
		delete(l.past, p.user)
	}
	u.places++
	l.count(p.state, 1)
	l.places[p.id] = p
	if p.state == waits {
		at, _ := slices.BinarySearchFunc(u.queue, p, sooner)
		u.queue = slices.Insert(u.queue, at, p)
		l.ring(p.notYet)
		l.ring(p.expires)
	}
}

// ring asks to be looked at, at a time or before.
func (l *line) ring(at time.Time) {
	if !at.IsZero() && (l.alarm.IsZero() || at.Before(l.alarm)) {
		l.alarm = at
	}
}

func (l *line) count(s occupancy, n int) {
	switch s {
	case promised, runs:
		l.busy += n
	case asks:
		l.idle += n
	case waits:
	}
}

// kept ends a promise. What the session has made of it, its rows have told; if
// none came, it still waits. A session that could not be asked is asked again
// later; one that does not want the place, when its row changes, or at once if
// it has changed meanwhile.
func (l *line) kept(id harness.SessionID, wanted bool, again time.Time) {
	p := l.places[id]
	if p == nil || p.state != promised {
		return
	}
	q := *p
	q.state, q.alive = waits, false
	q.notYet = later(q.notYet, again)
	if !wanted && p.seq == p.asked {
		l.put(p, nil)
		return
	}
	l.put(p, &q)
}

// asleep says that a session has no goroutine, so no engine either.
func (l *line) asleep(id harness.SessionID) {
	if p := l.places[id]; p != nil && p.state == asks {
		l.put(p, nil)
	}
}

// forget says that there is nothing to wait for.
func (l *line) forget(id harness.SessionID) { l.put(l.places[id], nil) }

// running yields the sessions that have a place.
func (l *line) running() []harness.SessionID {
	var list []harness.SessionID
	for id, p := range l.places {
		if p.state == runs {
			list = append(list, id)
		}
	}
	return list
}

// due is the sessions that have expired where they wait, and sets the alarm for
// the next time that something is due.
func (l *line) due(now time.Time) []harness.SessionID {
	if l.alarm.IsZero() || now.Before(l.alarm) {
		return nil
	}
	l.alarm = time.Time{}
	var list []harness.SessionID
	for id, p := range l.places {
		if p.state != waits {
			continue
		}
		if p.notYet.After(now) {
			l.ring(p.notYet)
		}
		switch {
		case p.expires.After(now):
			l.ring(p.expires)
		case !p.expires.IsZero():
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}
