package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"harness"
	"harness/internal/public"
	"harness/internal/whole"
)

// MaxMade bounds the hooks that callers have made: each costs a goroutine.
const MaxMade = 64

// madeFile keeps the hooks that callers have made, with their secrets.
const madeFile = "hooks.json"

func (s shelf) made() (hooks []Hook, err error) {
	text, err := fs.ReadFile(s.root.FS(), madeFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &hooks)
	}
	if err != nil {
		return nil, fmt.Errorf("hooks: %w: %w", err, harness.ErrCorrupt)
	}
	return hooks, nil
}

func (s shelf) saveMade(hooks []Hook) error {
	text, err := json.MarshalIndent(hooks, "", " ")
	if err != nil {
		return err
	}
	if err := whole.Write(s.root, madeFile, append(text, '\n')); err != nil {
		return fmt.Errorf("hooks: %w: %w", err, harness.ErrStorage)
	}
	return nil
}

// Add makes a webhook that is kept until it is removed. It may be at a private
// address only if the notifier's options say so. Commands are for whoever has
// the server's own files, not for callers.
func (n *Notifier) Add(h Hook) error {
	h.Private, h.Created = n.opts.Private, time.Now().UTC()
	if len(h.Command) > 0 {
		return fmt.Errorf("hook %s: commands are set where the server is started: %w", h.Name, harness.ErrForbidden)
	}
	if err := h.Check(); err != nil {
		return err
	}
	if !h.Private && hidden(h.URL) {
		return fmt.Errorf("hook %s: it would never be told: its address is not public, and the server was started without --webhook-private: %w", h.Name, harness.ErrInvalid)
	}
	if n.share != nil {
		return n.addShared(h)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.ctx.Err() != nil:
		return harness.ErrUnavailable
	case slices.ContainsFunc(n.lines, func(l *line) bool { return l.hook.Name == h.Name }):
		return fmt.Errorf("there is a hook %s: %w", h.Name, harness.ErrExists)
	case len(n.made) >= MaxMade:
		return fmt.Errorf("there are %d hooks: %w", len(n.made), harness.ErrQuota)
	}
	l, err := n.line(h)
	if err != nil {
		return fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	made := append(slices.Clone(n.made), h)
	if err := n.cursors.saveMade(made); err != nil {
		return err
	}
	n.made = made
	n.lines = append(n.lines, l)
	n.wg.Go(func() { l.run(l.ctx) })
	return nil
}

// hidden reports whether an address says by itself that it is not public. What a
// name stands for is seen when it is dialled.
func hidden(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return !public.Is(ip)
	}
	return u.Hostname() == "localhost"
}

// Remove ends a hook that was added. What waits for it is not told.
func (n *Notifier) Remove(name string) error {
	if n.share != nil {
		return n.removeShared(name)
	}
	n.mu.Lock()
	at := slices.IndexFunc(n.made, func(h Hook) bool { return h.Name == name })
	if at < 0 {
		n.mu.Unlock()
		return harness.ErrNotFound.Saying("no hook " + name)
	}
	made := slices.Delete(slices.Clone(n.made), at, at+1)
	if err := n.cursors.saveMade(made); err != nil {
		n.mu.Unlock()
		return err
	}
	n.made = made
	n.mu.Unlock()
	return n.stop(name)
}

// stop ends the way to a hook that is no more.
func (n *Notifier) stop(name string) error {
	n.mu.Lock()
	i := slices.IndexFunc(n.lines, func(l *line) bool { return l.hook.Name == name })
	if i < 0 {
		n.mu.Unlock()
		return nil
	}
	l := n.lines[i]
	n.lines = slices.Delete(n.lines, i, i+1)
	n.mu.Unlock()
	l.end()
	<-l.done
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.ContainsFunc(n.lines, func(o *line) bool { return o.hook.Name == name }) { // made again meanwhile
		return nil
	}
	return n.cursors.forget(name)
}

// Hooks lists what is told, in the order of its making, without secrets.
func (n *Notifier) Hooks() []Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]Status, 0, len(n.lines))
	for _, l := range n.lines {
		h := l.hook
		h.Secret = ""
		all = append(all, Status{h, l.waiting(), slices.ContainsFunc(n.made, func(m Hook) bool { return m.Name == h.Name }), l.failure()})
	}
	return all
}

// Status is a hook and how it is.
type Status struct {
	Hook
	Waiting int
	Made    bool // by a caller, who can remove it
	Failed  Failure
}
