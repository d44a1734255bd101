package retrieval

import (
	"cmp"
	"time"
)

// Bounds that hold unless Options say otherwise. What is beyond them is not
// found, and the Report says how much that is.
const (
	// MaxFiles is how many files are indexed; larger trees have their sources
	// below a folder that is worth a workspace of its own.
	MaxFiles = 50_000
	// MaxFileBytes is the largest file that is read: what is larger is data or
	// was generated.
	MaxFileBytes = 1 << 20
	// MaxBytes is how much text is indexed; the index takes some 40 % of it, in memory.
	MaxBytes = 256 << 20
	// MaxTime ends a Refresh. What was read by then can be found, the next one
	// goes on.
	MaxTime = 30 * time.Second

	// maxEntries and maxDepth end a walk through a tree that never ends.
	maxEntries = 1_000_000
	maxDepth   = 128

	// A chunk has up to chunkLines lines; it ends early, after chunkLeast, where
	// the text has a gap, and shares chunkOverlap with the next, so that what
	// stands at a border is found with its surroundings.
	chunkLines   = 60
	chunkLeast   = 40
	chunkOverlap = 5
	// chunkBytes keeps chunks of long lines small enough for a model. A line
	// that is longer is a chunk of its own, and shown up to here.
	chunkBytes = 8 << 10

	// batchBytes of text become one segment; a segment is built by one core.
	batchBytes = 8 << 20
	// maxParts is how many segments a search looks through; beyond it the
	// smallest become one, until fewParts are left.
	maxParts = 12
	fewParts = 6

	// maxHits is the most that one search returns.
	maxHits = 200
	// fresh is how long after its last change a file may change again without
	// its time telling.
	fresh = 2 * time.Second
)

// Options of an index. The zero value has the bounds above.
type Options struct {
	MaxFiles     int
	MaxFileBytes int64
	MaxBytes     int64
	MaxTime      time.Duration
}

func (o *Options) orDefaults() Options {
	if o == nil {
		o = &Options{}
	}
	return Options{
		MaxFiles:     cmp.Or(o.MaxFiles, MaxFiles),
		MaxFileBytes: cmp.Or(o.MaxFileBytes, MaxFileBytes),
		MaxBytes:     cmp.Or(o.MaxBytes, MaxBytes),
		MaxTime:      cmp.Or(o.MaxTime, MaxTime),
	}
}
