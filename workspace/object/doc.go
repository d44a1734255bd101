// Package object keeps pieces of data by their content.
//
// A piece is named by its SHA-256: the standard library computes it with the
// processor's own instructions at well over a gigabyte a second, nobody can
// make two pieces of one name, and it needs no dependency. Pieces live in
// packs: files that are written once, synced, and renamed into place. So a
// snapshot of ten thousand files creates one file, whoever is killed leaves
// every older pack whole, and writers need not know of each other.
//
// A Store may be used by many goroutines and many processes. Writers and
// readers share a lock; Collect, which removes packs, takes it alone.
package object

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// ID is the name of a piece of data.
type ID [sha256.Size]byte

// Sum is the name of data.
func Sum(data []byte) ID { return sha256.Sum256(data) }

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// ParseID reads what String wrote.
func ParseID(s string) (id ID, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return ID{}, errors.New("not an object id")
	}
	return ID(b), nil
}

var (
	// ErrMissing says that no pack has the piece.
	ErrMissing = errors.New("object is missing")
	// ErrDamaged says that a pack is not as it was written.
	ErrDamaged = errors.New("object store is damaged")
	// ErrFull says that the disk, or the store's share of it, is full.
	ErrFull = errors.New("no space for snapshots")
)
