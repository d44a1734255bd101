package kernel

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"harness"
	"harness/internal/mint"
	"harness/policy"
)

// Options are the kernel's settings. The zero value works.
type Options struct {
	Log *slog.Logger // default: discard

	// Engine is the engine of sessions that name none.
	Engine string
	// Directory is the workspace of sessions that name none.
	Directory string

	// IdleAfter is how long a session with nothing to do stays awake. Default
	// 2 s: longer than the pause between a person's commands costs nothing,
	// shorter would load the state twice for one conversation.
	IdleAfter time.Duration
	// Window is the shortest time between two appends of streamed text alone.
	// The first text after a pause is appended at once, and everything else
	// never waits. Default 16 ms, a frame of a 60 Hz screen; negative for none.
	Window time.Duration
	// ApprovalTimeout denies what nobody answered. Default: wait for ever.
	ApprovalTimeout time.Duration
	// CancelGrace is how long a cancelled engine may take to stop before its
	// turn is ended without it. Default 10 s.
	CancelGrace time.Duration
	// MaxQueue bounds the prompts that wait in one session. Default 64: more
	// than anybody types ahead, little enough to keep in every snapshot.
	MaxQueue int
	// MaxLog bounds the bytes that one session stores. Default [MaxLog];
	// negative for none.
	MaxLog int64
	// TailEvents bounds the shared tail of an awake session. Default 1024.
	TailEvents int
	// SnapshotEvery is how many events a wake reads at most, roughly. Default
	// 1024.
	SnapshotEvery int
	// Redact takes secrets out of everything that is kept. Default: nothing is
	// taken out.
	Redact Redactor
	// Shelf keeps the content of artifacts. Default: none is kept.
	Shelf harness.Shelf
	// Tasks makes workspaces for isolated sessions; nil: there are none.
	Tasks harness.Tasks
	// Files finds what keeps the files of a directory as they were, for Rewind;
	// an error that wraps ErrUnsupported says that nothing does. Default: nothing
	// does anywhere.
	Files func(directory string) (harness.Rewinder, error)
	// Policy finds the rules for sessions of a directory, each time one wakes; nil
	// is none. Default: there are none anywhere.
	Policy func(directory string) *policy.Policy
	// Concurrency is how many background sessions run at a time; the others wait
	// in line. Default [Concurrency].
	Concurrency int
	// Backoff is how long a background session waits before a turn is tried
	// again: twice as long after each try. Default 1 s.
	Backoff time.Duration
	// Cluster is the other processes on a store that is a Follower. Default: the
	// store is this kernel's alone.
	Cluster Cluster
	// Left is told of each session that ends here, for whatever reason, when its
	// engine has stopped or was given up, and before another process is let have
	// it; the session waits for it. Default: nobody is.
	Left func(harness.SessionID)
	// NewID mints identifiers; for tests that need the same ones every time.
	NewID func(prefix string) string
}

// Kernel runs sessions on one store.
type Kernel struct {
	store   harness.Store
	snaps   harness.Snapshotter // nil if the store has no such power
	book    *book               // likewise
	abroad  *abroad             // nil without a cluster
	engines map[string]harness.Engine
	opts    Options
	limits  limits
	newID   func(prefix string) string
	log     *slog.Logger
	loads   chan struct{} // see load
	onWake  []func(harness.SessionID)
	onShow  []func(harness.SessionID, []harness.Event)
	onSend  []func(harness.SessionID, []harness.Event)

	onCommit []func(harness.Commit, time.Duration, error)

	queue *dispatcher

	wg    sync.WaitGroup
	halt  chan struct{}
	drain chan struct{}
	life  context.Context // ends with Close, for what nobody else ends
	end   context.CancelFunc

	mu       sync.Mutex // guards what follows
	awake    map[harness.SessionID]*session
	sleepers map[harness.SessionID]*sleeper
	term     chan struct{} // closed to end the sessions of this term; see StepDown
	draining bool
	closed   bool
}

// New makes a kernel over st, which stays the caller's to close, after the
// kernel. Nothing runs until a verb is used.
func New(st harness.Store, engines map[string]harness.Engine, opts *Options) *Kernel {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.IdleAfter = cmp.Or(o.IdleAfter, 2*time.Second)
	o.Window = max(0, cmp.Or(o.Window, 16*time.Millisecond))
	o.CancelGrace = cmp.Or(o.CancelGrace, 10*time.Second)
	o.MaxQueue = cmp.Or(o.MaxQueue, maxQueue)
	o.MaxLog = cmp.Or(o.MaxLog, MaxLog)
	o.TailEvents = cmp.Or(o.TailEvents, 1024)
	o.SnapshotEvery = cmp.Or(o.SnapshotEvery, 1024)
	o.Concurrency = cmp.Or(o.Concurrency, Concurrency)
	o.Backoff = cmp.Or(o.Backoff, time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	k := &Kernel{
		store: st, engines: engines, opts: o, log: o.Log, newID: o.NewID,
		limits:   limits{window: o.Window, approvalTimeout: o.ApprovalTimeout, cancelGrace: o.CancelGrace, maxQueue: o.MaxQueue, backoff: o.Backoff, maxLog: o.MaxLog},
		loads:    make(chan struct{}, 2*runtime.GOMAXPROCS(0)), // decoding is CPU work: more at once only costs memory
		halt:     make(chan struct{}),
		drain:    make(chan struct{}),
		awake:    make(map[harness.SessionID]*session),
		sleepers: make(map[harness.SessionID]*sleeper),
		term:     make(chan struct{}),
	}
	k.life, k.end = context.WithCancel(context.Background())
	if f, ok := st.(harness.Follower); ok && o.Cluster != nil {
		k.abroad = newAbroad(k, f)
	}
	k.queue = newDispatcher(k, o.Concurrency)
	k.snaps, _ = st.(harness.Snapshotter)
	if rules, ok := st.(harness.Rulebook); ok {
		k.book = newBook(rules)
	}
	if k.newID == nil {
		k.newID = mint.ID
	}
	return k
}

// Create makes a session: an empty one, or a branch that begins with another
// session's history up to a point. It costs the same however long that is.
func (k *Kernel) Create(ctx context.Context, n harness.NewSession) (harness.SessionID, error) {
	n, err := k.heardNew(n)
	if err != nil {
		return "", err
	}
	id := n.ID
	if id == "" {
		id = harness.SessionID(k.newID(harness.SessionPrefix))
	}
	if err := harness.CheckID("session id", string(id)); err != nil {
		return "", err
	}
	if err := n.Check(); err != nil {
		return "", err
	}
	if k.isClosed() {
		return "", harness.ErrUnavailable
	}
	first := &harness.SessionState{
		SessionID: id, Status: harness.Idle, Kind: cmp.Or(n.Kind, harness.Chat), UserID: n.User,
		Engine: n.Engine, Directory: n.Directory,
		Model: n.Config.Model, PermissionMode: n.Config.PermissionMode, ThinkLevel: n.Config.Effort,
		MaxTurns: n.Config.MaxTurns, SystemPrompt: n.Config.SystemPrompt, AgentProfile: n.Config.Agent,
	}
	if n.Title != "" {
		first.Title = &n.Title
	}
	if n.Parent != "" {
		parent, err := k.At(ctx, n.Parent, 0)
		if err != nil {
			return "", fmt.Errorf("create %s: parent %s: %w", id, n.Parent, err)
		}
		first.SpawnedBy, first.Depth = n.Parent, parent.Depth+1
	}
	first.MaxRetries = n.MaxRetries
	if !n.Expires.IsZero() {
		first.ExpiresAt = new(n.Expires.UTC().Truncate(time.Millisecond))
	}
	if n.Config.Health != nil {
		first.Policy = &harness.SessionPolicy{Health: n.Config.Health}
	}
	st := new(harness.State)
	c := harness.Commit{Session: id}
	if n.From != nil {
		if id == n.From.Session {
			return "", fmt.Errorf("create %s: %w", id, harness.ErrExists)
		}
		if st, c.From, err = k.branch(ctx, *n.From); err != nil {
			return "", fmt.Errorf("branch from %s: %w", n.From.Session, err)
		}
		first.Kind = cmp.Or(n.Kind, st.Kind)
		first.ParentSessionID, first.BranchResumeCursor = c.From.Session, c.From.Cursor
		first.BranchSourceEventID = harness.EventID(c.From.Session, c.From.Seq)
	}
	if st.Engine == "" {
		first.Engine = cmp.Or(n.Engine, k.opts.Engine)
	}
	if e, err := k.engine(first.Engine); err == nil && first.Engine != "" {
		first.Lacks = e.Abilities().Lacks()
	}
	if st.Directory == "" {
		first.Directory = cmp.Or(n.Directory, k.opts.Directory)
	}
	about, undo, err := k.isolate(ctx, id, n, st, first)
	if err != nil {
		return "", err
	}
	defer func() { undo(ctx) }()
	c.After = st.Seq
	now, diagnosis := time.Now(), healthOf(st)
	add := func(p harness.Payload) {
		e := harness.NewEvent(id, st.Seq+1, now, "", p)
		st.Apply(e)
		diagnosis.Apply(e)
		c.Events = append(c.Events, e)
	}
	if c.From == nil {
		add(first)
	} else {
		seed := k.seed(ctx, id, st, *c.From)
		if first.Kind == harness.Background {
			first.ResumeContext = resumeContext(seed)
		}
		add(first)
		add(seed)
		if n.Wary {
			limits, err := k.wary(ctx, n.From.Session, st, diagnosis)
			if err != nil {
				return "", fmt.Errorf("branch from %s: %w", n.From.Session, err)
			}
			if limits != nil {
				add(limits)
			}
		}
		c.From.Cursor = "" // a store needs the place only
	}
	for _, p := range about {
		add(p)
	}
	if len(n.Prompt) > 0 {
		if !st.Queues() {
			return "", fmt.Errorf("create %s: only a background session begins with a prompt: %w", id, harness.ErrInvalid)
		}
		add(&harness.UserMessage{ItemID: harness.ItemID(k.newID(harness.ItemPrefix)), Source: harness.FromTurn, Parts: n.Prompt, Actor: n.Actor})
		add(&harness.SessionState{Status: harness.Queued, QueuedAt: new(now.UTC().Truncate(time.Millisecond))})
	}
	c.Summary = st.Summary()
	diagnosis.Rate(&c.Summary)
	release := func() {}
	if len(n.Prompt) > 0 { // it waits in the line of this process
		if release, err = k.claim(ctx, id); k.elsewhere(err) {
			return "", fmt.Errorf("create %s: %w", id, harness.ErrExists)
		} else if err != nil {
			return "", fmt.Errorf("create %s: %w", id, err)
		}
	}
	if err := k.store.Append(ctx, c); err != nil {
		release()
		if harness.AsError(err) == harness.ErrConflict {
			return "", fmt.Errorf("create %s: %w", id, harness.ErrExists)
		}
		undo = func(context.Context) {} // it may be there all the same
		return "", fmt.Errorf("create %s: %w", id, err)
	}
	undo = func(context.Context) {}
	k.queue.see(c.Summary)
	return id, nil
}

// Do carries out a command and returns when its effect is durable.
func (k *Kernel) Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error) {
	receipt, err := k.DoHere(ctx, id, cmd)
	if k.elsewhere(err) {
		return k.opts.Cluster.Do(ctx, id, k.heard(cmd))
	}
	return receipt, err
}

func (k *Kernel) do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error) {
	return k.tell(ctx, id, func(from ticket) input { return commanded{from, cmd} })
}

// tell gives a session an input that it answers with a reply, waking it if need
// be.
func (k *Kernel) tell(ctx context.Context, id harness.SessionID, in func(ticket) input) (harness.Receipt, error) {
	for {
		answer := make(chan reply, 1) // so that the session never waits for the client
		s, has, err := k.open(ctx, id, in(answer))
		if err == nil && !has {
			has, err = s.take(ctx, in(answer))
		}
		if err != nil {
			return harness.Receipt{}, err
		}
		if !has {
			continue
		}
		select {
		case r := <-answer:
			if r.err == errGone {
				continue
			}
			return r.receipt, r.err
		case <-ctx.Done():
			return harness.Receipt{}, context.Cause(ctx)
		case <-s.done:
		}
		select {
		case r := <-answer:
			return r.receipt, r.err
		default:
			return harness.Receipt{}, cmp.Or(s.err, error(harness.ErrUnavailable))
		}
	}
}

// Read yields a session's events after a position, from the store.
func (k *Kernel) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return k.store.Read(ctx, id, after)
}

// List yields summaries of sessions, newest update first, with the places of
// those that wait in line.
func (k *Kernel) List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error] {
	return func(yield func(harness.Summary, error) bool) {
		for sum, err := range k.store.List(ctx, f) {
			k.queue.place(&sum)
			if !yield(sum, err) {
				return
			}
		}
	}
}

// Messages yields sealed messages of a session, from up to but without to, in
// the form that clients get.
func (k *Kernel) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	if k.snaps == nil {
		return func(func([]byte, error) bool) {}
	}
	return k.snaps.Messages(ctx, id, from, to)
}

// At is the state of a session as it was at a position; 0 means now, as far as
// it is durable. Its sealed messages are in the store.
func (k *Kernel) At(ctx context.Context, id harness.SessionID, seq harness.Seq) (*harness.State, error) {
	if s := k.peek(id); s != nil && seq != 0 {
		select {
		case <-s.loaded:
			if s.err == nil && s.origin.Seq == seq { // its watchers go on where it woke
				return s.origin.Clone(), nil
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	st, _, err := k.load(ctx, id, seq)
	return st, err
}

// engine finds the engine a session names, or the usual one for a session that
// names none, as one that was written elsewhere.
func (k *Kernel) engine(name string) (harness.Engine, error) {
	if e, ok := k.engines[cmp.Or(name, k.opts.Engine)]; ok {
		return e, nil
	}
	return nil, fmt.Errorf("no engine %q: %w", name, harness.ErrUnsupported)
}
