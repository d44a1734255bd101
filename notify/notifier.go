package notify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"harness"
	"harness/internal/paper"
)

// sessions is what notices are found in.
type sessions interface {
	Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error]
	List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error]
}

// Options are a notifier's settings. The zero value works.
type Options struct {
	Log *slog.Logger // default: discard
	// Env is the environment of commands, as os.Environ has it. Default: none.
	Env []string
	// Agent is the User-Agent of webhooks.
	Agent string
	// Private lets webhooks that are made later be at addresses that are not
	// public.
	Private bool
	// Hide is given every secret, before it is used.
	Hide func(secret string) error
	// Counted hears of every attempt: what sort of hook it was, and what came of
	// it. It must not block.
	Counted func(sort, outcome string)
	// Shared has the hooks that callers have made if several servers share them:
	// each server tells of what happens on it. Default: the directory has them.
	Shared Shared
	// Backoff is the wait before the second attempt; it doubles with each one.
	// Default 1 s.
	Backoff time.Duration
}

// Shared is what servers on one store share.
type Shared = paper.Shared

// What comes of an attempt.
const (
	Delivered = "delivered"
	Retrying  = "retrying"
	GivenUp   = "given_up"
)

// Notifier tells hooks what happens to sessions.
type Notifier struct {
	k       sessions
	opts    Options
	log     *slog.Logger
	cursors shelf
	share   *hookShare // nil: hooks are this server's alone

	wg  sync.WaitGroup
	end context.CancelFunc
	ctx context.Context // of everything it does; ended by Close

	mu    sync.Mutex // guards what follows
	lines []*line
	made  []Hook // those that can be removed again, as they are kept
}

// Open tells hooks what happens, and those that were added earlier. What it must
// remember is in dir, which is its own. The hooks of a place must have names that
// differ. Give [Notifier.Committed] every commit.
func Open(k sessions, dir string, hooks []Hook, opts *Options) (*Notifier, error) {
	n := &Notifier{k: k}
	if opts != nil {
		n.opts = *opts
	}
	if n.log = n.opts.Log; n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	if n.opts.Backoff == 0 {
		n.opts.Backoff = time.Second
	}
	if n.opts.Counted == nil {
		n.opts.Counted = func(string, string) {}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	n.cursors = shelf{root}
	n.ctx, n.end = context.WithCancel(context.Background())
	if err := n.begin(hooks); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Notifier) begin(hooks []Hook) (err error) {
	if n.made, err = n.cursors.made(); err != nil {
		return err
	}
	if n.opts.Shared != nil {
		if n.share, err = shareHooks(n.opts.Shared, n.cursors, n.made); err == nil {
			n.made, err = n.share.load()
		}
		if err != nil {
			return err
		}
		n.made = slices.DeleteFunc(n.made, func(h Hook) bool { // this server's own comes first
			return slices.ContainsFunc(hooks, func(o Hook) bool { return o.Name == h.Name })
		})
		for i := range n.made {
			n.made[i].Private = n.made[i].Private && n.opts.Private
		}
	}
	all := slices.Concat(hooks, n.made)
	for i, h := range all {
		if err := h.Check(); err != nil {
			return err
		}
		if slices.ContainsFunc(all[:i], func(o Hook) bool { return o.Name == h.Name }) {
			return fmt.Errorf("two hooks are named %s: %w", h.Name, harness.ErrInvalid)
		}
		if n.opts.Hide != nil && h.Secret != "" {
			if err := n.opts.Hide(h.Secret); err != nil {
				return fmt.Errorf("secret of hook %s: %w", h.Name, err)
			}
		}
	}
	if err := n.cursors.tidy(all); err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	for _, h := range all {
		l, err := n.line(h)
		if err != nil {
			return err
		}
		n.lines = append(n.lines, l)
		n.wg.Go(func() { l.run(l.ctx) })
	}
	if n.share != nil {
		n.wg.Go(func() { n.follow(n.ctx) })
	}
	return nil
}

// Committed hears of a commit and how it went. It does not wait.
func (n *Notifier) Committed(c harness.Commit, _ time.Duration, err error) {
	if err != nil {
		return
	}
	for _, e := range c.Events {
		notice, ok := Of(e)
		if !ok {
			continue
		}
		n.mu.Lock()
		for _, l := range n.lines {
			if l.hook.Wants(notice, c.Summary) {
				l.put(item{notice: notice, about: c.Summary})
			}
		}
		n.mu.Unlock()
	}
}

// Waiting is how many notices wait for their hooks.
func (n *Notifier) Waiting() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	sum := 0
	for _, l := range n.lines {
		sum += l.waiting()
	}
	return sum
}

// Close ends deliveries and returns when nothing runs any more. What was not
// delivered is found again by the next Open.
func (n *Notifier) Close() error {
	n.end()
	n.wg.Wait()
	return n.cursors.root.Close()
}
