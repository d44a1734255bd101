// Package beside is what sessions have that is of no log: artifacts, snapshots
// of directories, schedules, webhooks and tokens. A server that has a store for
// itself keeps it in its data directory; several on one store keep it in the
// store's depot.
//
// It guarantees that a copy from one to the other loses nothing and replaces
// nothing but schedules by what has become of them; and that content is read and
// compared by its SHA-256. Logins and the first token of each server are not
// copied, and what it does not know it names.
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

	New  int      // files that were not there yet, or have more in them
	Left []string // places that were not copied
}

// count notes a file that is there.
func (c *Counted) count(place, name string) {
	switch {
	case strings.HasPrefix(place, artifactsAt):
		c.Artifacts++
	case strings.HasPrefix(place, treesAt) && strings.HasPrefix(name, marksAt):
		c.Snapshots++
	}
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
