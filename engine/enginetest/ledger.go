package enginetest

import (
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"harness"
)

// Ledger remembers what engines told of and took, and in which tests.
type Ledger struct {
	tb testing.TB

	mu    sync.Mutex // guards what follows
	plays map[string]bool
	seen  map[string]map[string]bool // what, as evidence has it, → tests
}

// NewLedger is an empty ledger.
func NewLedger(tb testing.TB) *Ledger {
	return &Ledger{tb: tb, plays: map[string]bool{}, seen: map[string]map[string]bool{}}
}

// Watch is e, with everything it tells of and takes in the ledger. What it tells
// of and does not claim fails tb.
func (l *Ledger) Watch(tb testing.TB, e harness.Engine) *Watched {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plays[tb.Name()] = true
	return &Watched{e, l, tb}
}

func (l *Ledger) played() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.plays)
}

func (l *Ledger) saw(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.seen[what]) > 0
}

// where is a test in which something was seen: the one that is named after it, or
// the first by name, so that it is the same in every run.
func (l *Ledger) where(what string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	kind, name, _ := strings.Cut(what, " ")
	if kind == "setting" {
		name = "configure"
	}
	all := slices.Sorted(maps.Keys(l.seen[what]))
	for _, test := range all {
		if name != "" && path.Base(test) == name {
			return test
		}
	}
	return all[0]
}

// Watched is an engine that a ledger hears.
type Watched struct {
	harness.Engine
	ledger *Ledger
	tb     testing.TB
}

// Close closes the engine, if it can be closed.
func (w *Watched) Close() error {
	if c, ok := w.Engine.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func (w *Watched) note(what string) {
	l := w.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[what] == nil {
		l.seen[what] = map[string]bool{}
	}
	l.seen[what][w.tb.Name()] = true
}

// told is that the engine tells of a kind.
func (w *Watched) told(kind harness.Type) {
	if !slices.Contains(w.Abilities().Events(), kind) {
		w.tb.Errorf("the engine tells of %s, which its abilities do not have", kind)
	}
	w.note(string(kind))
}
