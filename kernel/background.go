package kernel

import (
	"fmt"
	"time"

	"harness"
)

// What is different for a session that works by itself: its turns wait in line
// for a place, are tried again after a while, may expire, and can be paused in
// the middle. Sessions that it hands work to run in its place, at once.

// maxBackoff bounds the wait between two tries: a provider that is down longer
// is not asked more often than a person would look.
const maxBackoff = time.Minute

// called: it is the session's turn, or time to look at the clock.
func (m *machine) called(now time.Time, r *ready, in called) {
	var err error
	switch {
	case !m.waits():
		err = errNotWaiting
	case m.draining:
		err = harness.ErrUnavailable
	case m.expired(now):
		m.expire(now)
	case !in.place:
	case m.state.Turn == nil:
		m.begin(now, harness.TurnID(m.newID(harness.TurnPrefix)), 1, m.state.Queue[0].Fresh, false)
	default:
		m.again(now, !m.state.Turn.Failed)
	}
	m.when(r, m.state.Seq, reply{to: in.from, err: err})
}

// waits reports whether the session waits in line.
func (m *machine) waits() bool {
	s := m.state
	return s.Queues() && m.engine == "" && !s.Course.Queued.IsZero() && (s.Turn != nil || len(s.Queue) > 0) && m.keep.rewinding == nil && m.keep.ending == nil
}

// getInLine has the session wait for its turn: behind all others of its user,
// or, if a turn is open, where that was.
func (m *machine) getInLine(now time.Time, p harness.SessionState) harness.Seq {
	at := now.UTC().Truncate(time.Millisecond)
	if t := m.state.Turn; t != nil && !t.Queued.IsZero() {
		at = t.Queued
	}
	p.QueuedAt = &at
	if p.Status == "" {
		p.Status = harness.Queued
	}
	return m.stage(now, &p)
}

// retryLater has a turn that failed wait to be tried again.
func (m *machine) retryLater(now time.Time, lastError string, wait time.Duration) {
	p := harness.SessionState{Status: harness.Recovering, Reason: "error", AttemptCount: m.state.Turn.Tries, LastError: lastError}
	if wait > 0 {
		p.RetryAt = new(now.Add(wait).UTC().Truncate(time.Millisecond))
	}
	m.getInLine(now, p)
}

// pauseBefore is how long to wait after so many tries.
func (m *machine) pauseBefore(tries int) time.Duration {
	wait := m.backoff
	for range tries - 1 {
		if wait *= 2; wait >= maxBackoff {
			return maxBackoff
		}
	}
	return wait
}

// expired reports whether nothing of the session may begin any more.
func (m *machine) expired(now time.Time) bool {
	at := m.state.Course.Expires
	return m.state.Queues() && !at.IsZero() && !now.Before(at)
}

// expire ends a session whose time is over before it could begin, or go on.
func (m *machine) expire(now time.Time) {
	before := "before it began"
	if m.state.Turn != nil {
		before = "before it could go on"
	}
	at := m.state.Course.Expires.Format(time.RFC3339)
	m.stage(now, &harness.SessionCheckpoint{
		SessionID: m.state.Session, Sequence: int(m.state.Seq + 1), CheckpointType: harness.ExpiredCheckpoint, Status: harness.CheckpointFailed,
		SummaryText: "Expired at " + at + ", " + before, ResumeCursor: new(harness.Cursor{Kind: harness.AtCheckpoint, Session: m.state.Session, Seq: m.state.Seq + 1}.String()),
	})
	m.stage(now, &harness.Failure{Message: fmt.Sprintf("the session expired at %s, %s", at, before), Code: "expired"})
	if m.state.Turn == nil {
		m.finish(now, harness.StatusFailed, "expired", "")
		return
	}
	m.endTurn(now, harness.TurnError, "expired")
}

// finish ends a session that has no turn open. What waited is not done.
func (m *machine) finish(now time.Time, s harness.Status, reason, key string) harness.Seq {
	return m.stage(now, &harness.SessionState{Status: s, Reason: reason, EndedAt: new(now.UTC().Truncate(time.Millisecond)), ClientKey: key})
}

// settleDown pauses a turn that is to pause, where no call is cut in the middle.
func (m *machine) settleDown(now time.Time) {
	t := m.state.Turn
	if !m.state.Pausing || !m.state.Queues() || m.dead || m.draining || t == nil || t.Cancelling || len(t.Open) > 0 || m.holding || m.keep.ending != nil || m.engine == "" {
		return
	}
	m.stage(now, &harness.SessionState{Status: harness.Paused, Reason: "user", PauseRequested: new(false)})
	m.standStill(now)
}

// pauseWork pauses a session that works by itself: at once, or if its engine is
// in the middle of a call, after that.
func (m *machine) pauseWork(now time.Time, c harness.Pause) (harness.Receipt, error) {
	s := m.state
	switch {
	case s.Status.Terminal():
		return harness.Receipt{}, fmt.Errorf("the session has ended: %w", harness.ErrNotRunning)
	case (s.Status == harness.Paused || s.Pausing) && c.ClientKey == "":
		return harness.Receipt{Seq: s.Seq}, nil
	case m.engine != "" && s.Turn != nil && s.Status != harness.Paused:
		return harness.Receipt{Seq: m.stage(now, &harness.SessionState{PauseRequested: new(true), ClientKey: c.ClientKey})}, nil
	}
	reason := "user"
	if s.Status == harness.Paused {
		reason = s.Reason
	}
	return harness.Receipt{Seq: m.stage(now, &harness.SessionState{Status: harness.Paused, Reason: reason, ClientKey: c.ClientKey})}, nil
}

// resumeWork lets a session that works by itself go on: a paused one where it
// was, one that failed or was cancelled with what it was asked last.
func (m *machine) resumeWork(now time.Time, c harness.Resume) (harness.Receipt, error) {
	s := m.state
	key := harness.SessionState{ClientKey: c.ClientKey}
	switch {
	case s.Pausing:
		key.PauseRequested = new(false)
		return harness.Receipt{Seq: m.stage(now, &key)}, nil
	case s.Status == harness.Paused && len(s.Pending) > 0:
		key.Status = harness.AwaitingApproval
		return harness.Receipt{Seq: m.stage(now, &key)}, nil
	case s.Status == harness.Paused && s.Turn == nil && len(s.Queue) == 0:
		key.Status = harness.Idle
		return harness.Receipt{Seq: m.stage(now, &key)}, nil
	case s.Status == harness.Paused:
		return harness.Receipt{Seq: m.getInLine(now, key)}, nil
	case (s.Status == harness.StatusFailed || s.Status == harness.StatusCancelled) && len(s.Course.Last) > 0:
		item := harness.ItemID(m.newID(harness.ItemPrefix))
		m.stage(now, &harness.UserMessage{ItemID: item, Source: harness.FromResume, Parts: s.Course.Last, Actor: c.Actor})
		return harness.Receipt{Seq: m.getInLine(now, key), Item: item}, nil
	}
	return harness.Receipt{}, fmt.Errorf("the session is not paused, and did not fail: %w", harness.ErrInvalid)
}

// cancelWork ends a session that has prompts and no turn.
func (m *machine) cancelWork(now time.Time, c harness.Cancel) (harness.Receipt, error) {
	if len(m.state.Queue) == 0 || c.Turn != "" {
		return harness.Receipt{}, harness.ErrNotRunning
	}
	return harness.Receipt{Seq: m.finish(now, harness.StatusCancelled, "user", c.ClientKey)}, nil
}

// tellWork says where a session that works by itself stands, in S3's words: its
// clients need not know what each other event means for that.
func (m *machine) tellWork(now time.Time) {
	s := m.state
	if !s.Queues() {
		return
	}
	p := &harness.SessionState{Status: s.Status, Reason: s.Reason, AttemptCount: s.Course.Attempts, MaxRetries: new(s.Retries)}
	switch {
	case s.Status == harness.AwaitingApproval && len(s.Pending) > 0:
		p.ApprovalRequestID = s.Pending[0].ID
	case s.Status.Terminal():
		p.EndedAt = new(now.UTC().Truncate(time.Millisecond))
		if s.Status == harness.StatusFailed {
			p.LastError = s.Error
		}
		if s.Pausing { // it was done before it could pause
			p.PauseRequested = new(false)
		}
	}
	m.stage(now, p)
}

// leftOver sees to a turn whose engine was stopped because the server stops.
// One of a session that works by itself goes on after the next start, and that
// is no other try.
func (m *machine) leftOver(now time.Time, in ended) {
	if !m.state.Queues() || in.alive || m.held() || len(m.state.Pending) > 0 || m.keep.ending != nil {
		return
	}
	m.closeCalls(now, "interrupted")
	m.enqueue(now, append(in.unread, m.unsaid()...))
	m.getInLine(now, harness.SessionState{Reason: "shutdown"})
}
