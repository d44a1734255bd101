package kernel

import (
	"context"
	"sync"
	"time"

	"harness"
)

// tallied: a session below has told what it came to so far.
type tallied struct {
	child  harness.SessionID
	status string
	tally  harness.Tally
}

func (tallied) input() {}

// tallied makes it part of the log, and so of the budgets.
func (m *machine) tallied(now time.Time, in tallied) {
	m.stage(now, &harness.SubagentEvent{AgentID: string(in.child), Status: in.status, ParentSessionID: m.state.Session, Tally: &in.tally})
}

// mail is what the sessions below tell, the last word of each. They never wait
// for whoever reads it.
type mail struct {
	bell chan struct{} // size 1: one ring is as good as many

	mu   sync.Mutex // guards what follows
	last map[harness.SessionID]tallied
}

func newMail() *mail { return &mail{bell: make(chan struct{}, 1)} }

func (m *mail) post(t tallied) {
	m.mu.Lock()
	if m.last == nil {
		m.last = make(map[harness.SessionID]tallied)
	}
	m.last[t.child] = t
	m.mu.Unlock()
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

func (m *mail) take() []tallied {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []tallied
	for _, t := range m.last {
		all = append(all, t)
	}
	m.last = nil
	return all
}

// hearChildren takes in what sessions below have told.
func (s *session) hearChildren(ctx context.Context) {
	for _, t := range s.mail.take() {
		s.carryOut(ctx, s.m.step(time.Now(), t))
	}
}

// toTell is what a commit means for the session's parent; nil if it has none, or
// if nothing counts that has not been told.
func (s *session) toTell(c *harness.Commit) *tallied {
	if s.m.state.SpawnedBy == "" {
		return nil
	}
	t := tallied{child: s.id, status: harness.SubagentRunning}
	for _, e := range c.Events {
		switch p := e.Payload.(type) {
		case *harness.TurnStart:
			t.status = harness.SubagentRunning
		case *harness.TurnEnd:
			t.status = map[string]string{harness.TurnCompleted: harness.SubagentCompleted, harness.TurnCancelled: harness.SubagentCancelled, harness.TurnError: harness.SubagentFailed}[p.Status]
		}
	}
	if t.tally = s.m.health.Told(t.status == harness.SubagentRunning); t.tally == s.told {
		return nil
	}
	s.told = t.tally
	return &t
}

// tellParent hands it on, if the parent is awake: one that sleeps waits for
// nobody.
func (k *Kernel) tellParent(parent harness.SessionID, t *tallied) {
	if p := k.peek(parent); t != nil && p != nil {
		p.mail.post(*t)
	}
}
