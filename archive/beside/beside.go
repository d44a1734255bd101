// Package beside is what sessions have that is of no log: artifacts, snapshots
// of directories, schedules, webhooks and tokens. A server that has a store for
// itself keeps it in its data directory; several on one store keep it in the
// store's depot.
//
// It guarantees that a copy from one to the other loses nothing and replaces
// nothing but what has become of schedules by what became of them later; and that
// content is read and compared by its SHA-256. Logins and the first token of each
// server are not copied, what the other has no place for is named, and a rewind
// that is not at its end is refused.
package beside

import (
	"context"
	"io"
	"iter"
	"strings"

	"harness"
)

// Keep has files in places: a depot, or a [Folder].
type Keep interface {
	Places(ctx context.Context) iter.Seq2[string, error]
	Place(ctx context.Context, name string, known uint64) (harness.Place, error)
	Fetch(ctx context.Context, place, name string) (io.ReadSeekCloser, error)
	Deliver(ctx context.Context, d harness.Delivery) (version uint64, err error)
}

var _ Keep = harness.Depot(nil)

// The names of places, and of files in them.
const (
	artifactsAt = "artifacts/" // and a session
	treesAt     = "trees/"     // and a directory's name
	loginsAt    = "access/logins"

	packsAt   = "packs/"
	marksAt   = "marks/" // and a session, and a mark
	journalAt = "journal"
	textAt    = "text"
)

// Counted is how much there was.
type Counted struct {
	Artifacts, Snapshots, Schedules, Webhooks, Tokens int

	New  int    // files that were not there yet, or have more in them
	Left []File // that the other has no place for
}

// File is one of a place.
type File struct{ Place, Name string }

func (f File) String() string { return f.Place + "/" + f.Name }

// count notes a file that is there.
func (c *Counted) count(place, name string) {
	switch {
	case strings.HasPrefix(place, artifactsAt):
		c.Artifacts++
	case strings.HasPrefix(place, treesAt) && strings.HasPrefix(name, marksAt):
		c.Snapshots++
	}
}

// takes reports whether a keep has a place for a file. A depot has for all.
func takes(k Keep, place, name string) bool {
	f, ok := k.(*Folder)
	if !ok {
		return true
	}
	_, ok = f.path(place, name)
	return ok
}

// read is the whole of a file.
func read(ctx context.Context, k Keep, place, name string) ([]byte, error) {
	f, err := k.Fetch(ctx, place, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, harness.MaxParcel+1)) // a delivery refuses more
}
