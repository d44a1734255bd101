package socket

import "sync/atomic"

// A budget bounds the bytes of incomplete messages that all connections hold
// together: 10,000 peers that each send all but the end of a largest message
// must not take 10 GB. A nil budget has no end.
type budget struct{ left atomic.Int64 }

func newBudget(n int64) *budget {
	b := new(budget)
	b.left.Store(n)
	return b
}

// take says whether n bytes may be held, and counts them if so.
func (b *budget) take(n int) bool {
	if b == nil || b.left.Add(-int64(n)) >= 0 {
		return true
	}
	b.give(n)
	return false
}

func (b *budget) give(n int) {
	if b != nil {
		b.left.Add(int64(n))
	}
}
