package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"harness"
)

// Trees are the trees whose snapshots are kept in one place. Every session of a
// directory gets the same Files.
type Trees struct {
	data string
	opts Options

	mu    sync.Mutex // guards files
	files map[string]*Files
}

// NewTrees keeps snapshots below data, which need not exist yet.
func NewTrees(data string, opts *Options) *Trees {
	t := &Trees{data: data, files: make(map[string]*Files)}
	if opts != nil {
		t.opts = *opts
	}
	return t
}

// Of is the Rewinder of a directory, or an error that wraps harness.ErrUnsupported
// if there cannot be one. It writes nothing.
func (t *Trees) Of(dir string) (harness.Rewinder, error) {
	f, err := t.of(dir)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (t *Trees) of(dir string) (*Files, error) {
	tree, err := Open(t.data, dir, &t.opts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, harness.ErrUnsupported)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.files[tree.root]
	if f == nil {
		f = NewFiles(tree)
		t.files[tree.root] = f
	}
	return f, nil
}

// Pauses of Tend. A tree is tidied within tidyFor or left for another time; then
// the next one has its turn.
const (
	tidyFor   = time.Minute
	tidyEvery = time.Hour
)

// Tend tidies up now and every hour until ctx ends. report hears of every tree
// in which something was freed, or went wrong.
func (t *Trees) Tend(ctx context.Context, report func(dir string, c Collected, err error)) {
	for {
		t.Tidy(ctx, report)
		select {
		case <-ctx.Done():
			return
		case <-time.After(tidyEvery):
		}
	}
}

// Tidy collects what is not needed any more, tree by tree, but not in a tree in
// which somebody is at work. Whoever comes meanwhile does not wait for it.
func (t *Trees) Tidy(ctx context.Context, report func(dir string, c Collected, err error)) {
	labels, _ := filepath.Glob(filepath.Join(t.data, "*", "tree")) // no tree, nothing to tidy
	for _, label := range labels {
		if ctx.Err() != nil {
			return
		}
		dir, err := os.ReadFile(label)
		if err != nil {
			report(filepath.Dir(label), Collected{}, err)
			continue
		}
		root := strings.TrimSuffix(string(dir), "\n")
		f, err := t.of(root)
		if errors.Is(err, os.ErrNotExist) { // it may come back: a disk that is not there today
			continue
		}
		var c Collected
		if err == nil {
			bounded, cancel := context.WithTimeout(ctx, tidyFor)
			c, err = f.tidy(bounded)
			cancel()
		}
		if err != nil || c.Freed > 0 || c.Marks > 0 {
			report(root, c, err)
		}
	}
}
