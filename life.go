package harness

import "sync/atomic"

// Life is whether a credential still stands: everybody who came with it has the
// same one. It ends once, before what was opened with the credential is closed;
// so whoever opens something and asks after that, or is found by who closes, and
// nothing stays open between the two. A nil Life has no end. Its methods may be
// called concurrently, and cost a load.
type Life struct {
	of   *Life
	over atomic.Bool
}

// NewLife is a life that ends by itself, or with the one that it is part of,
// which may be nil: a login's ends with its token's.
func NewLife(of *Life) *Life { return &Life{of: of} }

// Of is what it is part of, or nil.
func (l *Life) Of() *Life {
	if l == nil {
		return nil
	}
	return l.of
}

// End ends it.
func (l *Life) End() {
	if l != nil {
		l.over.Store(true)
	}
}

// Over reports whether it has ended.
func (l *Life) Over() bool {
	for ; l != nil; l = l.of {
		if l.over.Load() {
			return true
		}
	}
	return false
}
