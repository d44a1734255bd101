package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"harness"
	"harness/internal/paper"
)

// hookShare is where servers share the hooks that callers have made.
type hookShare struct {
	bells harness.Bells
	paper *paper.Paper
}

// shareHooks gives those of a directory, whose file has another name then, to all
// servers.
func shareHooks(s Shared, own shelf, mine []Hook) (*hookShare, error) {
	k := &hookShare{s, paper.In(s, "hooks")}
	if len(mine) == 0 {
		return k, nil
	}
	err := k.change(func(all []Hook) ([]Hook, error) {
		for _, h := range mine {
			if more, err := with(all, h); err == nil {
				all = more
			}
		}
		return all, nil
	})
	if err == nil {
		err = paper.HandedOver(own.root, madeFile)
	}
	return k, err
}

// with is all and h.
func with(all []Hook, h Hook) ([]Hook, error) {
	switch {
	case slices.ContainsFunc(all, func(o Hook) bool { return o.Name == h.Name }):
		return nil, fmt.Errorf("there is a hook %s: %w", h.Name, harness.ErrExists)
	case len(all) >= MaxMade:
		return nil, fmt.Errorf("there are %d hooks: %w", len(all), harness.ErrQuota)
	}
	return append(slices.Clone(all), h), nil
}

func decode(text []byte) (all []Hook, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("hooks: %w: %w", err, harness.ErrCorrupt)
	}
	for _, h := range all {
		if len(h.Command) > 0 { // nobody has shared it: whoever writes into a database must not run programs here
			return nil, fmt.Errorf("hook %s of other servers is a command: %w", h.Name, harness.ErrCorrupt)
		}
	}
	return all, nil
}

func (k *hookShare) load() ([]Hook, error) {
	ctx, cancel := context.WithTimeout(context.Background(), paper.Patience)
	defer cancel()
	text, _, err := k.paper.Read(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	return decode(text)
}

func (k *hookShare) change(f func(all []Hook) ([]Hook, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), paper.Patience)
	defer cancel()
	_, err := k.paper.Change(ctx, func(text []byte) ([]byte, error) {
		all, err := decode(text)
		if err == nil {
			all, err = f(all)
		}
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = []Hook{}
		}
		return json.Marshal(all)
	})
	return err
}

// follow begins and ends hooks as other servers do, until ctx ends.
func (n *Notifier) follow(ctx context.Context) {
	bell, away := n.share.bells.Hang(n.share.paper.Topic())
	defer away()
	var seen uint64
	for first := true; ; first = false {
		if !first { // something may have come before the bell was hung
			select {
			case <-bell:
			case <-ctx.Done():
				return
			}
		}
		look, cancel := context.WithTimeout(ctx, paper.Patience)
		text, version, err := n.share.paper.Read(look, seen)
		cancel()
		if err == nil && text == nil {
			continue
		}
		var all []Hook
		if err == nil {
			all, err = decode(text)
		}
		if err != nil {
			n.log.Warn("hooks not read again; the old ones are told", "err", err)
			continue
		}
		n.adopt(all)
		seen = version
	}
}

// adopt makes the hooks that were made these.
func (n *Notifier) adopt(all []Hook) {
	n.mu.Lock()
	var gone []string
	n.made = slices.DeleteFunc(slices.Clone(n.made), func(h Hook) bool {
		same := slices.ContainsFunc(all, func(o Hook) bool { return o.Name == h.Name && o.Created.Equal(h.Created) })
		if !same {
			gone = append(gone, h.Name)
		}
		return !same
	})
	n.mu.Unlock()
	for _, name := range gone {
		if err := n.stop(name); err != nil {
			n.log.Warn("what a hook leaves is left", "hook", name, "err", err)
		}
	}
	for _, h := range all {
		if err := n.begun(h); err != nil {
			n.log.Warn("a hook of another server is not told", "hook", h.Name, "err", err)
		}
	}
}

// addShared is Add for all servers.
func (n *Notifier) addShared(h Hook) error {
	n.mu.Lock()
	taken := slices.ContainsFunc(n.lines, func(l *line) bool { return l.hook.Name == h.Name }) // perhaps this server's own
	n.mu.Unlock()
	switch {
	case n.ctx.Err() != nil:
		return harness.ErrUnavailable
	case taken:
		return fmt.Errorf("there is a hook %s: %w", h.Name, harness.ErrExists)
	}
	if err := n.share.change(func(all []Hook) ([]Hook, error) { return with(all, h) }); err != nil {
		return err
	}
	return n.begun(h)
}

// removeShared is Remove for all servers.
func (n *Notifier) removeShared(name string) error {
	err := n.share.change(func(all []Hook) ([]Hook, error) {
		rest := slices.DeleteFunc(slices.Clone(all), func(h Hook) bool { return h.Name == name })
		if len(rest) == len(all) {
			return nil, harness.ErrNotFound.Saying("no hook " + name)
		}
		return rest, nil
	})
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.made = slices.DeleteFunc(slices.Clone(n.made), func(h Hook) bool { return h.Name == name })
	n.mu.Unlock()
	return n.stop(name)
}

// begun begins to tell a hook that another server has made, unless it is told.
func (n *Notifier) begun(h Hook) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ctx.Err() != nil || slices.ContainsFunc(n.lines, func(l *line) bool { return l.hook.Name == h.Name }) {
		return nil
	}
	h.Private = h.Private && n.opts.Private // what one server may reach, another may not
	if err := h.Check(); err != nil {
		return err
	}
	if n.opts.Hide != nil && h.Secret != "" {
		if err := n.opts.Hide(h.Secret); err != nil {
			return err
		}
	}
	l, err := n.line(h)
	if err != nil {
		return err
	}
	n.made, n.lines = append(slices.Clone(n.made), h), append(n.lines, l)
	n.wg.Go(func() { l.run(l.ctx) })
	return nil
}
