package storetest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"harness"
	"harness/store/memory"
)

// sharedPowers is a store that several nodes share, with everything.
type sharedPowers interface {
	powers
	harness.Follower
	harness.Leaser
	harness.Inbox
	harness.Bells
	harness.Depot
}

// shared is the simplest such store: nodes of one process on one memory.
type shared struct {
	powers
	harness.Depot

	mu      sync.Mutex // guards what follows
	changed chan struct{}
	expires map[string]time.Time
	ttls    map[string]time.Duration
	dead    map[string]bool
	leases  map[harness.SessionID]harness.Lease
	epoch   uint64
	orders  []*kept
}

type kept struct {
	harness.Order
	answer []byte
	done   bool
}

func newShared() *shared {
	return &shared{powers: memory.New(), Depot: memory.NewDepot(), changed: make(chan struct{}), expires: map[string]time.Time{}, ttls: map[string]time.Duration{},
		dead: map[string]bool{}, leases: map[harness.SessionID]harness.Lease{}}
}

// change runs f alone, and wakes whoever waits.
func (s *shared) change(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := f()
	close(s.changed)
	s.changed = make(chan struct{})
	return err
}

func (s *shared) wait(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *shared) now() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *shared) Append(ctx context.Context, c harness.Commit) error {
	return s.change(func() error { return s.powers.Append(ctx, c) })
}

func (s *shared) Remove(ctx context.Context, id harness.SessionID) error {
	s.Depot.(*memory.Depot).Remove(id)
	return s.change(func() error { return s.powers.Remove(ctx, id) })
}

// Deliver rings the bells of everything.
func (s *shared) Deliver(ctx context.Context, d harness.Delivery) (v uint64, err error) {
	err = s.change(func() error {
		v, err = s.Depot.Deliver(ctx, d)
		return err
	})
	return v, err
}

func (s *shared) Follow(ctx context.Context, id harness.SessionID, at harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		for {
			changed := s.now()
			for e, err := range s.powers.Read(ctx, id, at) {
				if !yield(e, err) || err != nil {
					return
				}
				at = e.Seq
			}
			if err := s.wait(ctx, changed); err != nil {
				yield(harness.Event{}, err)
				return
			}
		}
	}
}

func (s *shared) OnMove(ctx context.Context, id harness.SessionID, seen harness.Seq, f func()) (stop func()) {
	ctx, stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		for ctx.Err() == nil {
			changed, head := s.now(), harness.Seq(0)
			for e := range s.powers.Read(ctx, id, 0) {
				head = e.Seq
			}
			if head != seen && ctx.Err() == nil {
				f()
				return
			}
			s.wait(ctx, changed)
		}
	}()
	return stop
}

// Hang rings for nothing whenever anything happens.
func (s *shared) Hang(harness.Topic) (<-chan struct{}, func()) {
	bell := make(chan struct{}, 1)
	ctx, away := context.WithCancel(context.Background())
	go func() {
		for changed := s.now(); s.wait(ctx, changed) == nil; changed = s.now() {
			select {
			case bell <- struct{}{}:
			default:
			}
		}
	}()
	return bell, away
}

func (s *shared) RevokeRule(ctx context.Context, id harness.RuleID) error {
	return s.change(func() error { return s.powers.RevokeRule(ctx, id) })
}

func (s *shared) Join(_ context.Context, owner string, ttl time.Duration) error {
	return s.change(func() error {
		if _, ok := s.ttls[owner]; ok {
			return harness.ErrExists
		}
		s.ttls[owner], s.expires[owner] = ttl, time.Now().Add(ttl)
		return nil
	})
}

func (s *shared) Beat(_ context.Context, owner string) error {
	return s.change(func() error {
		if s.ttls[owner] == 0 || s.dead[owner] {
			return harness.ErrConflict
		}
		s.expires[owner] = time.Now().Add(s.ttls[owner])
		return nil
	})
}

func (s *shared) Leave(_ context.Context, owner string) error {
	return s.change(func() error {
		s.dead[owner] = true
		return nil
	})
}

func (s *shared) gone(owner string) bool { return s.dead[owner] || time.Now().After(s.expires[owner]) }

func (s *shared) Claim(_ context.Context, owner string, id harness.SessionID) (l harness.Lease, err error) {
	err = s.change(func() error {
		if s.gone(owner) {
			return harness.ErrConflict
		}
		var held bool
		if l, held = s.leases[id]; held && l.Owner == owner {
			return nil
		}
		if held && !s.gone(l.Owner) {
			return harness.ErrLocked
		}
		s.dead[l.Owner] = true
		s.epoch++
		l = harness.Lease{Session: id, Owner: owner, Epoch: s.epoch}
		s.leases[id] = l
		return nil
	})
	return l, err
}

func (s *shared) Release(_ context.Context, l harness.Lease) error {
	return s.change(func() error {
		if s.leases[l.Session] == l {
			delete(s.leases, l.Session)
		}
		return nil
	})
}

func (s *shared) Orphans(context.Context) iter.Seq2[harness.Lease, error] {
	return func(yield func(harness.Lease, error) bool) {
		s.mu.Lock()
		var all []harness.Lease
		for _, l := range s.leases {
			if s.gone(l.Owner) {
				all = append(all, l)
			}
		}
		for _, k := range s.orders {
			if _, held := s.leases[k.Session]; !held && !k.done {
				all = append(all, harness.Lease{Session: k.Session})
			}
		}
		s.mu.Unlock()
		slices.SortFunc(all, func(a, b harness.Lease) int { return strings.Compare(string(a.Session), string(b.Session)) })
		for _, l := range all {
			if !yield(l, nil) {
				return
			}
		}
	}
}

func (s *shared) find(o harness.Order) *kept {
	i := slices.IndexFunc(s.orders, func(k *kept) bool { return k.Session == o.Session && k.Key == o.Key })
	if i < 0 {
		return nil
	}
	return s.orders[i]
}

func (s *shared) Send(ctx context.Context, o harness.Order) (answer []byte, err error) {
	if len(o.Body) > harness.MaxOrder {
		return nil, harness.ErrTooLarge
	}
	s.change(func() error {
		if s.find(o) == nil {
			s.orders = append(s.orders, &kept{Order: o})
		}
		return nil
	})
	for {
		s.mu.Lock()
		k, changed := *s.find(o), s.changed
		s.mu.Unlock()
		if k.done {
			return k.answer, nil
		}
		if err := s.wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

func (s *shared) Receive(ctx context.Context, owner string) iter.Seq2[harness.Order, error] {
	return func(yield func(harness.Order, error) bool) {
		given := map[string]bool{}
		for {
			s.mu.Lock()
			changed := s.changed
			var page []harness.Order
			for _, k := range s.orders {
				l := s.leases[k.Session]
				if key := fmt.Sprint(k.Session, k.Key, l.Epoch); l.Owner == owner && !k.done && !given[key] {
					given[key] = true
					page = append(page, harness.Order{Session: k.Session, Key: k.Key, Body: k.Body, Epoch: l.Epoch})
				}
			}
			s.mu.Unlock()
			for _, o := range page {
				if !yield(o, nil) {
					return
				}
			}
			if err := s.wait(ctx, changed); err != nil {
				yield(harness.Order{}, err)
				return
			}
		}
	}
}

func (s *shared) Answer(_ context.Context, o harness.Order, answer []byte) error {
	return s.change(func() error {
		k := s.find(o)
		if k == nil || s.leases[o.Session].Epoch != o.Epoch || k.done && string(k.answer) != string(answer) {
			return harness.ErrConflict
		}
		k.answer, k.done = answer, true
		return nil
	})
}
