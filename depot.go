package harness

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
)

// Depot is an optional power of a store that processes share: files that are of
// no log, for whichever process asks for them. Content is kept once however many
// files have it, and no longer than one of them.
//
// A place is a set of files under a name. It need not be made: one that nobody
// has delivered anything to is empty and of version 0. One that had files of
// sessions goes, with all that is in it, when the last of those is removed. After each delivery the
// bells of [AboutPlace] ring, also those of the process that delivered.
type Depot interface {
	// Places yields the names of the places that hold something, in order.
	Places(ctx context.Context) iter.Seq2[string, error]

	// Place says what a place holds, by name. If it is still of version known,
	// and that is not 0, only the version is said.
	Place(ctx context.Context, name string, known uint64) (Place, error)

	// Deliver changes a place, all of it or nothing, and returns its version
	// then: greater than any before, of any place. It is durable when Deliver
	// returns. If d.At is not the version that the place has, it is ErrConflict.
	Deliver(ctx context.Context, d Delivery) (version uint64, err error)

	// Fetch reads a file, or is ErrNotFound. Content that is not as it was
	// delivered is ErrCorrupt.
	Fetch(ctx context.Context, place, name string) (io.ReadSeekCloser, error)

	// Hold waits, at most until ctx ends, until nobody else in any process holds
	// the place. Its hold ends with release, or with the process. It keeps nobody
	// from delivering.
	Hold(ctx context.Context, place string) (release func(), err error)
}

// Place is what a place holds.
type Place struct {
	Version uint64
	Files   []Filed
}

// Filed is a file of a place.
type Filed struct {
	Name    string
	Session SessionID // it goes when that is removed; empty: it stays
	Size    int64
	SHA256  [sha256.Size]byte
}

// Delivery is a change of a place. What is removed goes before what is added
// comes; a name that is there already has other content then.
type Delivery struct {
	Place  string
	At     uint64 // the version that the place must have; AnyVersion: whichever
	Add    []Parcel
	Remove []string // names; those that are not there do not matter
}

// AnyVersion is for a delivery that does not depend on what was there.
const AnyVersion = ^uint64(0)

// Parcel is a file to come.
type Parcel struct {
	Name    string
	Session SessionID
	Content []byte
}

// Bounds of a depot.
const (
	MaxParcel    = 128 << 20 // of one file: any artifact, any pack of a snapshot
	maxPlaceName = 512
)

// Check refuses a delivery that no depot takes.
func (d Delivery) Check() error {
	if err := checkPlace(d.Place); err != nil {
		return err
	}
	for _, p := range d.Add {
		if err := checkPlace(p.Name); err != nil {
			return err
		}
		if len(p.Content) > MaxParcel {
			return fmt.Errorf("file %s of %d bytes, more than %d: %w", p.Name, len(p.Content), MaxParcel, ErrTooLarge)
		}
	}
	return nil
}

// checkPlace refuses names that not every store can keep.
func checkPlace(name string) error {
	if name == "" || len(name) > maxPlaceName {
		return fmt.Errorf("a name of %d bytes in a depot: %w", len(name), ErrInvalid)
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f {
			return fmt.Errorf("name %q in a depot: %w", name, ErrInvalid)
		}
	}
	return nil
}

// AboutPlace is the topic of what is delivered to a place.
func AboutPlace(name string) Topic { return Topic("place:" + name) }
