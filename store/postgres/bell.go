package postgres

import (
	"sync"

	"harness"
)

// Hang implements [harness.Bells].
func (s *Store) Hang(about harness.Topic) (bell <-chan struct{}, away func()) {
	return s.await(aboutNews + string(about))
}

// bells wake those who wait for something in the database. A ring says only
// that it is worth looking.
type bells struct {
	mu   sync.Mutex // guards hung
	hung map[string]map[chan struct{}]bool
}

func newBells() *bells { return &bells{hung: map[string]map[chan struct{}]bool{}} }

// hang returns a bell, which has room for one ring, and how to take it away.
func (b *bells) hang(topic string) (bell chan struct{}, away func()) {
	bell = make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hung[topic] == nil {
		b.hung[topic] = map[chan struct{}]bool{}
	}
	b.hung[topic][bell] = true
	return bell, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if delete(b.hung[topic], bell); len(b.hung[topic]) == 0 {
			delete(b.hung, topic)
		}
	}
}

func (b *bells) ring(topic string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for bell := range b.hung[topic] {
		ring(bell)
	}
}

func (b *bells) ringAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, topic := range b.hung {
		for bell := range topic {
			ring(bell)
		}
	}
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}
