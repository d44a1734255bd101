package schedule

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"harness"
	"harness/internal/paper"
)

// sessions is what sessions are made with. It may ask on whose behalf.
type sessions interface {
	Create(ctx context.Context, n harness.NewSession) (harness.SessionID, error)
	Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error)
	List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error]
}

// Options are a scheduler's settings. The zero value works.
type Options struct {
	Log *slog.Logger // default: discard

	// Shared has the schedules if several servers share them: each follows all,
	// and a time has one session whoever is first. Default: the directory has
	// them.
	Shared Shared
}

// Shared is what servers on one store share.
type Shared = paper.Shared

// lookEvery is how long the clock is trusted: it may be set.
const lookEvery = time.Minute

// againAfter is when something is tried again that could not be done.
const againAfter = 10 * time.Second

// Scheduler makes sessions when their time has come. Its methods may be called
// concurrently.
type Scheduler struct {
	k    sessions
	kept keeper
	log  *slog.Logger
	bell chan struct{} // look again; size 1, one ring is as good as many
	wg   sync.WaitGroup
	end  context.CancelFunc

	keeping chan struct{} // size 1: whoever has put something in may keep another list

	mu  sync.Mutex // guards all, which is replaced and never changed
	all []*Schedule

	waiting sync.Mutex                 // guards busy; commits do not wait for mu
	busy    map[harness.SessionID]bool // sessions that somebody waits for
}

// Open reads the schedules that are kept in dir, which it makes if need be.
// Nothing is begun before [Scheduler.Start]. Give [Scheduler.Committed] every
// commit.
func Open(k sessions, dir string, opts *Options) (*Scheduler, error) {
	s := &Scheduler{k: k, bell: make(chan struct{}, 1), keeping: make(chan struct{}, 1), log: slog.New(slog.DiscardHandler), busy: map[harness.SessionID]bool{}}
	if opts != nil && opts.Log != nil {
		s.log = opts.Log
	}
	own, err := openFile(dir)
	if err != nil {
		return nil, err
	}
	if s.kept = own; opts != nil && opts.Shared != nil {
		s.kept, err = share(own, opts.Shared)
	}
	if err == nil {
		s.all, err = s.kept.load(nil)
	}
	if err != nil {
		own.root.Close()
		return nil, err
	}
	s.end = func() {}
	return s, nil
}

// Start begins to make sessions, also for times that were missed. Call it once.
func (s *Scheduler) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.end = cancel
	s.wg.Go(func() { s.run(ctx) })
}

// Close ends it and returns when nothing runs any more.
func (s *Scheduler) Close() error {
	s.end()
	s.wg.Wait()
	return s.kept.close()
}

// Committed hears of a commit: a session that somebody waits for may have ended.
func (s *Scheduler) Committed(c harness.Commit, _ time.Duration, err error) {
	if err != nil || works(c.Summary) {
		return
	}
	s.waiting.Lock()
	waits := s.busy[c.Session]
	delete(s.busy, c.Session)
	s.waiting.Unlock()
	if waits {
		s.ring()
	}
}

func (s *Scheduler) ring() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// works reports whether a session has something under way.
func works(sum harness.Summary) bool {
	switch sum.Status {
	case harness.Queued, harness.Running, harness.AwaitingApproval, harness.Recovering, harness.Paused:
		return true
	case harness.Idle, harness.StatusCompleted, harness.StatusFailed, harness.StatusCancelled:
	}
	return false
}

// run sees to what is due, until ctx ends.
func (s *Scheduler) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	news, away := s.kept.news()
	defer away()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.bell:
		case <-timer.C:
		case <-news:
		}
		s.refresh()
		timer.Reset(s.tend(ctx, time.Now()))
	}
}

// tend sees to what is due now and says when to look again.
func (s *Scheduler) tend(ctx context.Context, now time.Time) time.Duration {
	wait := lookEvery
	for _, id := range s.ids() {
		if ctx.Err() != nil {
			return wait
		}
		again, err := s.attend(ctx, id, now)
		if err != nil {
			s.log.Warn("a schedule could not be followed; it is tried again", "schedule", id, "err", err)
			again = againAfter
		}
		wait = min(wait, again)
	}
	return max(wait, time.Millisecond)
}

func (s *Scheduler) ids() (all []string) {
	for _, c := range s.known() {
		all = append(all, c.ID)
	}
	return all
}

// attend sees to one schedule: what is due, else what waits. What is to be done
// is noted down before it is done, and done again if that was not noted; done
// twice, it is the same.
func (s *Scheduler) attend(ctx context.Context, id string, now time.Time) (time.Duration, error) {
	c, err := s.Get(id)
	if err != nil {
		return lookEvery, nil // removed meanwhile
	}
	spec, err := c.spec()
	if err != nil {
		return lookEvery, err
	}
	at, missed := c.due(spec, now)
	next := spec.Next(now).Sub(now)
	switch {
	case !at.IsZero() && missed && c.Missed == Forget:
		return next, s.note(id, func(c *Schedule) { c.Done, c.Outcome = at, "missed" })
	case !at.IsZero():
	case !c.Starts.IsZero():
		return next, s.make(ctx, &c)
	case !c.Waits.IsZero():
		at = c.Waits
	default:
		return next, nil
	}
	outcome, err := s.clear(c.behalf(ctx), &c)
	if err != nil {
		return next, err
	}
	if at.After(c.Done) {
		c.Done = at
	}
	c.Outcome, c.Starts, c.Waits = outcome, time.Time{}, time.Time{}
	switch outcome {
	case "queued":
		c.Waits = at
	case "started", "replaced":
		c.Starts, c.Last = at, c.session(at)
	}
	if err := s.note(id, func(n *Schedule) { *n = c }); err != nil || c.Starts.IsZero() {
		return next, err
	}
	return next, s.make(ctx, &c)
}

// clear makes room for a session of the schedule, or says why it must not begin.
func (s *Scheduler) clear(ctx context.Context, c *Schedule) (outcome string, err error) {
	if c.Last == "" {
		return "started", nil
	}
	switch works, err := s.works(ctx, c.Last); {
	case err != nil:
		return "", err
	case !works:
		return "started", nil
	}
	switch c.Overlap {
	case Skip:
		return "skipped", nil
	case Queue:
		return "queued", nil
	}
	_, err = s.k.Do(ctx, c.Last, harness.Cancel{ClientKey: "schedule replaces it"})
	if err != nil && harness.AsError(err) != harness.ErrNotRunning {
		return "", err
	}
	return "replaced", nil
}

// make makes the session that the schedule is to start. What can never be, is
// given up; anything else is tried again.
func (s *Scheduler) make(ctx context.Context, c *Schedule) error {
	err := s.start(c.behalf(ctx), c, c.session(c.Starts), c.Starts)
	if err != nil && passes(err) {
		return err
	}
	return s.note(c.ID, func(n *Schedule) {
		if n.Starts = (time.Time{}); err != nil {
			n.Outcome = harness.ClientText(err)
			s.log.Warn("a schedule's session cannot be made", "schedule", c.ID, "err", err)
		}
	})
}

// passes reports whether an error may be none a while later.
func passes(err error) bool {
	switch harness.AsError(err) {
	case harness.ErrStorage, harness.ErrUnavailable, harness.ErrQuota, harness.ErrTooMany, harness.ErrInternal, harness.ErrConflict, harness.ErrLocked, harness.ErrQueueFull:
		return true
	}
	return false
}

// works reports whether a session has something under way, and makes sure that
// its end is heard of.
func (s *Scheduler) works(ctx context.Context, id harness.SessionID) (bool, error) {
	s.waiting.Lock()
	s.busy[id] = true // before it is looked at, so that no end is missed
	s.waiting.Unlock()
	for sum, err := range s.k.List(ctx, harness.Filter{Session: id, Limit: 1}) {
		if err != nil {
			return false, err
		}
		if works(sum) {
			return true, nil
		}
	}
	s.waiting.Lock()
	delete(s.busy, id)
	s.waiting.Unlock()
	return false, nil
}

// start makes a session with its prompt; once, however often.
func (s *Scheduler) start(ctx context.Context, c *Schedule, id harness.SessionID, at time.Time) error {
	n := harness.NewSession{
		ID: id, Kind: harness.Background, User: c.User, Title: cmp.Or(c.Name, "schedule "+c.ID), Engine: c.Engine, Directory: c.Directory, Config: c.patch(),
		Prompt: harness.TextPart(c.Prompt), Actor: "schedule " + c.ID,
	}
	if c.Retries > 0 {
		n.MaxRetries = &c.Retries
	}
	if c.Expires > 0 {
		n.Expires = at.Add(c.Expires)
	}
	_, err := s.k.Create(ctx, n)
	if err != nil && harness.AsError(err) != harness.ErrExists {
		return err
	}
	return nil
}

// behalf is ctx on behalf of whoever made the schedule.
func (c *Schedule) behalf(ctx context.Context) context.Context {
	return harness.WithCaller(ctx, harness.Caller{Name: "schedule " + c.ID, User: c.User, Role: c.Role, Scope: c.Scope})
}

// note changes a schedule, durably.
func (s *Scheduler) note(id string, change func(c *Schedule)) error {
	return s.change(func(all []*Schedule) ([]*Schedule, error) {
		i := index(all, id)
		if i < 0 {
			return nil, nil // removed meanwhile
		}
		next := slices.Clone(all)
		next[i] = new(*all[i])
		if change(next[i]); *next[i] == *all[i] {
			return nil, nil
		}
		return next, nil
	})
}

// change keeps another list; nil is the same one. One at a time does, and nobody
// who only looks waits for it.
func (s *Scheduler) change(f func(all []*Schedule) ([]*Schedule, error)) error {
	s.keeping <- struct{}{}
	defer func() { <-s.keeping }()
	next, err := s.kept.change(s.known(), f)
	if err == nil && next != nil {
		s.know(next)
	}
	return err
}

// refresh reads what other servers have changed.
func (s *Scheduler) refresh() {
	s.keeping <- struct{}{}
	defer func() { <-s.keeping }()
	all, err := s.kept.load(s.known())
	if err != nil {
		s.log.Warn("schedules not read again; the old ones are followed", "err", err)
		return
	}
	s.know(all)
}

func (s *Scheduler) known() []*Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

func (s *Scheduler) know(all []*Schedule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = all
}

func index(all []*Schedule, id string) int {
	return slices.IndexFunc(all, func(c *Schedule) bool { return c.ID == id })
}

func absent(id string) error { return harness.ErrNotFound.Saying("no schedule " + id) }
