package notify

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"harness"
)

// Bounds of what a hook that does not answer can cost.
const (
	// MaxPending is how many notices wait for one hook; beyond, the oldest is
	// given up.
	MaxPending = 4096
	// MaxAge is how old a notice gets before it is given up.
	MaxAge = 24 * time.Hour
	// maxBackoff is the longest wait between two attempts at a notice.
	maxBackoff = 10 * time.Minute
	// maxPause is the longest wait of a hook that fails whatever it is told.
	maxPause = time.Minute
	// failuresInARow is when that is so.
	failuresInARow = 3
	// saveEvery is how far a cursor may be behind what was delivered: so much is
	// delivered again after a kill.
	saveEvery = time.Second
)

// item is a notice on its way.
type item struct {
	notice   Notice
	about    harness.Summary
	attempts int
	due      time.Time
}

// line is the way to one hook. Its goroutine owns the cursor; what waits is
// shared with whoever has something to tell.
type line struct {
	n       *Notifier
	hook    Hook
	deliver func(ctx context.Context, it item) error
	sort    string // webhook or command
	log     *slog.Logger
	ctx     context.Context // ended by Notifier.Remove
	end     context.CancelFunc
	done    chan struct{} // closed when run has returned
	bell    chan struct{} // something is new; size 1, one ring is as good as many

	cursor cursor
	dirty  bool // the cursor has to be saved
	saved  time.Time
	fails  int       // in a row
	rests  time.Time // nothing is tried before

	mu      sync.Mutex // guards what follows
	waits   *queue     // but for the one that is being delivered
	dropped int
	failed  Failure // the last attempt, if it was one
}

func (n *Notifier) line(h Hook) (*line, error) {
	l := &line{
		n: n, hook: h, log: n.log.With("hook", h.Name), done: make(chan struct{}), bell: make(chan struct{}, 1), waits: newQueue(),
	}
	if l.sort = "webhook"; len(h.Command) > 0 {
		l.sort, l.deliver = "command", command{h.Command, n.opts.Env}.deliver
	} else {
		l.deliver = newWebhook(h, n.opts.Agent).deliver
	}
	var err error
	if l.cursor, err = n.cursors.load(h.Name, time.Now().UTC().Truncate(time.Millisecond)); err != nil {
		return nil, err
	}
	l.ctx, l.end = context.WithCancel(n.ctx)
	return l, nil
}

// put adds a notice, at a price that does not depend on how many wait.
func (l *line) put(it item) {
	l.mu.Lock()
	if l.waits.len() < 2*MaxPending { // trim makes room, between two attempts
		l.waits.push(it)
	} else {
		l.dropped++
	}
	l.mu.Unlock()
	select {
	case l.bell <- struct{}{}:
	default:
	}
}

func (l *line) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waits.len()
}

func (l *line) failure() Failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// run delivers until ctx ends: first what the logs have that was never
// delivered, which in the meantime may also be heard.
func (l *line) run(ctx context.Context) {
	defer close(l.done)
	l.recall(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer l.save(true)
	for ctx.Err() == nil {
		it, wait := l.next(time.Now())
		if it != nil {
			l.try(ctx, *it)
			l.save(false)
			continue
		}
		if l.save(false); l.dirty {
			wait = min(wait, saveEvery)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-l.bell:
		case <-timer.C:
		}
	}
}

// recall finds what the logs have since the cursor. A store that cannot be read
// now is asked again.
func (l *line) recall(ctx context.Context) {
	for wait := l.n.opts.Backoff; ctx.Err() == nil; wait = min(2*wait, maxPause) {
		err := past(ctx, l.n.k, l.cursor.Since, func(n Notice, about harness.Summary) {
			if l.hook.Wants(n, about) && !l.cursor.old(n) {
				l.put(item{notice: n, about: about})
			}
		})
		if err == nil || ctx.Err() != nil {
			return
		}
		l.log.Warn("the logs could not be read for notices", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// next takes the notice to deliver now, if there is one, or says how long to
// wait.
func (l *line) next(now time.Time) (*item, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
	if now.Before(l.rests) {
		return nil, l.rests.Sub(now)
	}
	for {
		switch first := l.waits.first(); {
		case first == nil:
			return nil, Slack // then the cursor moves on
		case l.cursor.old(first.notice): // heard, and found in the log
			l.waits.pop()
		case first.due.After(now):
			return nil, first.due.Sub(now)
		default:
			return new(l.waits.pop()), 0
		}
	}
}

// trim gives up the oldest notices if too many wait.
func (l *line) trim() {
	l.dropped += l.waits.trim(MaxPending)
	if l.dropped == 0 {
		return
	}
	l.log.Warn("too many notices wait; some are given up", "count", l.dropped)
	for range l.dropped {
		l.n.opts.Counted(l.sort, GivenUp)
	}
	l.dropped = 0
}

// try makes one attempt at a notice and takes note of what came of it.
func (l *line) try(ctx context.Context, it item) {
	err := l.deliver(ctx, it)
	if ctx.Err() != nil { // nobody knows what came of it
		l.again(it)
		return
	}
	now := time.Now()
	if err == nil {
		l.fails, l.rests = 0, time.Time{}
		l.note(Failure{})
		l.n.opts.Counted(l.sort, Delivered)
		l.log.Debug("told", "notice", it.notice.ID, "kind", it.notice.Kind)
		l.handled(it.notice)
		return
	}
	l.fails++
	it.attempts++
	l.note(Failure{Since: l.fails, At: now.UTC().Truncate(time.Millisecond), Why: why(err)})
	it.due = now.Add(backoff(l.n.opts.Backoff, maxBackoff, it.attempts-1))
	after, final := advice(err)
	if after > 0 {
		it.due = now.Add(min(after, maxBackoff))
	}
	if final || it.due.Sub(it.notice.Time) > MaxAge {
		l.n.opts.Counted(l.sort, GivenUp)
		l.log.Warn("a notice is given up", "notice", it.notice.ID, "kind", it.notice.Kind, "attempts", it.attempts, "err", err)
		l.handled(it.notice)
		return
	}
	l.n.opts.Counted(l.sort, Retrying)
	if it.attempts == 1 {
		l.log.Info("a notice could not be told; it is tried again", "notice", it.notice.ID, "kind", it.notice.Kind, "err", err)
	}
	if l.fails >= failuresInARow {
		l.rests = now.Add(backoff(l.n.opts.Backoff, maxPause, l.fails-failuresInARow))
	}
	l.again(it)
}

func (l *line) note(f Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = f
}

func (l *line) again(it item) {
	l.mu.Lock()
	l.waits.push(it)
	l.mu.Unlock()
}

// backoff is the wait after so many failures before the last one.
func backoff(first, most time.Duration, failures int) time.Duration {
	if failures >= 32 {
		return most
	}
	return min(first<<failures, most)
}

func (l *line) handled(n Notice) {
	l.cursor.Handled[n.ID] = n.Time
	l.dirty = true
}

// save keeps the cursor, if it is time: soon after a delivery, and now and then
// without one, so that the next start need not look far back.
func (l *line) save(now bool) {
	t := time.Now()
	if t.Sub(l.saved) > Slack && t.Sub(l.cursor.Since) > 2*Slack {
		l.dirty = true
	}
	if !l.dirty || !now && t.Sub(l.saved) < saveEvery {
		return
	}
	l.mu.Lock()
	oldest := l.waits.oldest()
	l.mu.Unlock()
	l.cursor.advance(t, oldest)
	l.saved = t
	if err := l.n.cursors.save(l.hook.Name, l.cursor); err != nil {
		l.log.Warn("the hook's cursor is not kept", "err", fmt.Errorf("hooks: %w", err))
		return
	}
	l.dirty = false
}
