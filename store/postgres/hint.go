package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"harness"
)

// hints gathers what other processes should look at, until the one goroutine
// that tells them is free: however many commits a group has and however many
// groups there are meanwhile, they are told at once. A hint that is lost costs
// time and nothing else.
type hints struct {
	wake chan struct{} // size 1: there is something to tell

	mu    sync.Mutex // guards what follows
	lines map[string]harness.Seq
}

func newHints() *hints {
	return &hints{wake: make(chan struct{}, 1), lines: map[string]harness.Seq{}}
}

// What a line of a notification begins with.
const (
	aboutLog    = "l " // a log has a new end, or none
	aboutOrders = "i " // a session has a new order
	aboutAnswer = "a " // an order of a session was answered
	aboutNews   = "n " // a topic of [harness.Bells]
)

// everything is the notification of more than fits into one.
const everything = "*"

// maxNotification is a little less than what the server takes.
const maxNotification = 7900

func (h *hints) add(about string, id harness.SessionID, seq harness.Seq) {
	h.mu.Lock()
	h.lines[about+string(id)] = seq
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// take returns the notification of all that was added since the last one; empty
// if that is nothing.
func (h *hints) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for line, seq := range h.lines {
		if b.Len()+len(line)+24 > maxNotification {
			b.Reset()
			b.WriteString(everything)
			break
		}
		fmt.Fprintf(&b, "%s %d\n", line, seq)
	}
	clear(h.lines)
	return b.String()
}

// hint tells the other processes, until ctx ends, and then what is left.
func (s *Store) hint(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-s.hints.wake:
			s.notify(ctx, s.hints.take())
		case <-ctx.Done():
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	s.notify(ctx, s.hints.take())
}

// notify sends a notification in a transaction of its own, because all that
// notify wait for one another until they have committed. There is nothing in it
// to flush.
func (s *Store) notify(ctx context.Context, payload string) {
	if payload == "" {
		return
	}
	s.pool.Exec(ctx, "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)", s.channel, payload) // a hint
}

// appended and removed tell who follows id, here and elsewhere.
func (s *Store) appended(id harness.SessionID, head harness.Seq) {
	s.hear(id, head)
	s.hints.add(aboutLog, id, head)
}

func (s *Store) removed(id harness.SessionID) {
	s.appended(id, 0)
	s.bells.ring(aboutAnswer + string(id)) // whoever waits for one
	s.hints.add(aboutAnswer, id, 0)
}

// announce rings the bells of a topic, here and elsewhere.
func (s *Store) announce(about harness.Topic) {
	s.bells.ring(aboutNews + string(about))
	s.hints.add(aboutNews, harness.SessionID(about), 0)
}
