package kernel

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"harness"
)

// sooner orders the sessions of a user.
func sooner(a, b *place) int { return cmp.Or(a.queued.Compare(b.queued), cmp.Compare(a.id, b.id)) }

// next promises a place to whoever is to have the next one.
func (l *line) next(now time.Time) (harness.SessionID, bool) {
	if l.busy >= l.slots || l.busy+l.idle >= l.slots*(1+waitingPerSlot) {
		return "", false
	}
	var best *place
	for _, u := range l.users {
		i := slices.IndexFunc(u.queue, func(p *place) bool { return !now.Before(p.notYet) })
		if i < 0 {
			continue
		}
		if p := u.queue[i]; best == nil || l.before(u, p, l.users[best.user], best) {
			best = p
		}
	}
	if best == nil {
		return "", false
	}
	l.last = later(now, l.last.Add(1)) // no two are served at one time
	l.users[best.user].served = l.last
	p := *best
	p.state, p.alive, p.asked = promised, true, p.seq
	l.put(best, &p)
	return p.id, true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// before reports whether p of user u goes before q of user v.
func (l *line) before(u *customer, p *place, v *customer, q *place) bool {
	return cmp.Or(u.served.Compare(v.served), sooner(p, q)) < 0
}

// recall takes from a row when its user was last served, by an earlier process.
func (l *line) recall(r harness.Summary) {
	if r.Kind != harness.Background || r.SpawnedBy != "" || r.Started.IsZero() {
		return
	}
	l.order, l.last = nil, later(l.last, r.Started)
	if u := l.users[r.User]; u != nil {
		u.served = later(u.served, r.Started)
	} else {
		l.past[r.User] = later(l.past[r.User], r.Started)
	}
}

// leave forgets a user without a place, but for when it was served. What is
// remembered of those who left is bounded: who was served longest ago is
// forgotten first, and comes first anyway.
func (l *line) leave(user string) {
	if served := l.users[user].served; !served.IsZero() {
		l.past[user] = served
	}
	delete(l.users, user)
	if len(l.past) <= 2*recallRows {
		return
	}
	times := slices.SortedFunc(maps.Values(l.past), time.Time.Compare)
	maps.DeleteFunc(l.past, func(_ string, at time.Time) bool { return at.Before(times[len(times)-recallRows]) })
}

// place is where a session stands in the line, from 1 on; 0 if it does not wait.
func (l *line) place(id harness.SessionID) int {
	if l.order == nil {
		l.order = l.arrange()
		l.where = make(map[harness.SessionID]int, len(l.order))
		for i, id := range l.order {
			l.where[id] = i + 1
		}
	}
	return l.where[id]
}

// arrange is everybody who waits, in the order in which they will be served if
// nothing changes: users in turn, round after round.
func (l *line) arrange() []harness.SessionID {
	users := slices.Collect(maps.Values(l.users))
	users = slices.DeleteFunc(users, func(u *customer) bool { return len(u.queue) == 0 })
	slices.SortFunc(users, func(u, v *customer) int { return cmp.Or(u.served.Compare(v.served), sooner(u.queue[0], v.queue[0])) })
	order := []harness.SessionID{}
	for round := 0; len(users) > 0; round++ {
		users = slices.DeleteFunc(users, func(u *customer) bool { return round >= len(u.queue) })
		for _, u := range users {
			order = append(order, u.queue[round].id)
		}
	}
	return order
}
