// Package thin decides which of many positions in something that grows are
// worth keeping: dense near the newest, and never further apart than a fixed
// span, so that any place is near one and there are few.
package thin

const (
	// Keep is how many of the newest always stay.
	Keep = 8
	// Part: a gap is at most this part of its distance from the newest.
	Part = 8
	// Span: and at most so wide.
	Span = 2048
)

// Out picks from positions, newest first, those to drop. Whoever looks for a
// place d before the newest then finds a position at most min(d/7, Span) before
// it, or the one that was there. The oldest always stays.
func Out[T ~uint64](have []T) (gone []T) {
	if len(have) <= Keep {
		return nil
	}
	newest, newer := have[0], have[Keep-1]
	for i := Keep; i < len(have)-1; i++ {
		if newer-have[i+1] <= min((newest-have[i])/Part, Span) {
			gone = append(gone, have[i])
		} else {
			newer = have[i]
		}
	}
	return gone
}
