package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"harness"
	"harness/protocol/runner"
)

// MaxPool bounds the runners of a configuration: a turn may have to ask each.
const MaxPool = 256

// PoolOptions are the choices of [OpenPool]. The zero value works.
type PoolOptions struct {
	Token string // what all of them are shown
	// SameFiles says that the runners work on the same files, so that a turn may
	// be done by whichever is free. Else a session keeps to one of them.
	SameFiles bool
}

// Open is the engine of the runner at a URL of the configuration: https, or
// http on this machine. It connects to nothing yet.
func Open(url, token string) (*Engine, error) {
	return OpenPool([]string{url}, &PoolOptions{Token: token})
}

// OpenPool is the engine of several such runners. Which one a session has is a
// function of its id and the URLs, in any order: every process with the same
// ones finds the same.
func OpenPool(urls []string, opts *PoolOptions) (*Engine, error) {
	o := PoolOptions{}
	if opts != nil {
		o = *opts
	}
	if len(urls) == 0 || len(urls) > MaxPool {
		return nil, fmt.Errorf("%d runners, want 1 to %d: %w", len(urls), MaxPool, harness.ErrInvalid)
	}
	p := &pool{same: o.SameFiles}
	for i, url := range urls {
		if slices.Contains(urls[:i], url) {
			return nil, fmt.Errorf("runner %s is there twice: %w", url, harness.ErrInvalid)
		}
		c, err := runner.NewClient(url, o.Token)
		if err != nil {
			return nil, err
		}
		p.runners = append(p.runners, member{url, c})
	}
	return newEngine(p, Bare()), nil
}

// pool is the runners of the configuration.
type pool struct {
	runners []member
	same    bool // they work on the same files
}

type member struct {
	url    string
	client *runner.Client
}

// order is the runners as a session prefers them: by the hash of both, so that
// one runner more or less moves no session that need not move.
func (p *pool) order(s harness.SessionID) []member {
	type ranked struct {
		member
		rank [sha256.Size]byte
	}
	all := make([]ranked, 0, len(p.runners))
	for _, m := range p.runners {
		all = append(all, ranked{m, sha256.Sum256([]byte(m.url + "\n" + string(s)))})
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(bytes.Compare(a.rank[:], b.rank[:]), cmp.Compare(a.url, b.url)) })
	list := make([]member, 0, len(all))
	for _, r := range all {
		list = append(list, r.member)
	}
	return list
}

// of is the runner that has a session's files.
func (p *pool) of(s harness.SessionID) *runner.Client { return p.order(s)[0].client }

// take returns the session's runner, or if any will do the first one that it
// prefers and that is free; if none is, its own, to wait for.
func (p *pool) take(ctx context.Context, t harness.Turn) (*lodging, error) {
	all := p.order(t.Session)
	if p.same && len(all) > 1 {
		ask, cancel := context.WithTimeout(ctx, askPatience)
		defer cancel()
		for i, h := range each(all, func(m member) (runner.Health, error) { return m.client.Health(ask) }) {
			if h.OK && !h.Busy {
				return lodge(all[i]), nil
			}
		}
	}
	return lodge(all[0]), nil
}

// find returns the runner that has a turn's run.
func (p *pool) find(t harness.Turn) (*lodging, error) {
	all := p.order(t.Session)
	if !p.same || len(all) == 1 {
		return lodge(all[0]), nil
	}
	ask, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	for i, s := range each(all, func(m member) (runner.Status, error) { return m.client.Status(ask, string(t.ID)) }) {
		if s.RequestID == string(t.ID) && s.Attempt == t.Attempt {
			return lodge(all[i]), nil
		}
	}
	return nil, fmt.Errorf("run %s: no runner has it: %w", t.ID, harness.ErrTurnNotFound)
}

// each asks all of them at once; who does not answer has the zero answer.
func each[T any](all []member, ask func(member) (T, error)) []T {
	answers := make([]T, len(all))
	var wg sync.WaitGroup
	for i, m := range all {
		wg.Go(func() {
			if a, err := ask(m); err == nil {
				answers[i] = a
			}
		})
	}
	wg.Wait()
	return answers
}

func (*pool) tidy() {}

func (*pool) close() error { return nil }

func lodge(m member) *lodging {
	return &lodging{client: m.client, gone: func() bool { return false }, leave: func() {}}
}
