// Package workspace takes snapshots of a directory and takes its files back.
//
// A snapshot (Mark) is of the whole tree as it lies on disk, whoever changed it
// and by what means, so an edit by a shell command is covered like any other.
// It costs one lstat per name plus what has changed since the last one.
// Snapshots live in a data directory outside the tree: nothing is ever written
// into a .git, no git is run, nothing of the tree is renamed.
//
// Rewind brings the tree back to a mark. It takes a snapshot first, so that it
// can be undone; it deletes what was created since; and it leaves alone, as a
// conflict, whatever somebody other than the session changed since the mark,
// unless it is forced. Each file changes at one instant. A rewind that was
// killed is finished by the next use of the tree.
//
// What it does not do: it keeps no owner, no extended attribute and no
// timestamp; a file that was restored is no longer hard-linked to another; it
// does not move a repository's HEAD. What was not kept (ignored by .gitignore,
// over a bound, unreadable, a .git, a socket) is named in the snapshot, is
// never deleted, and is reported as skipped.
package workspace

import "errors"

var (
	// ErrRefused says that a directory is not one to take snapshots of.
	ErrRefused = errors.New("not a directory for snapshots")
	// ErrGone says that a mark is not there, or no longer.
	ErrGone = errors.New("no such snapshot")
	// ErrDamaged says that stored data is not as it was written.
	ErrDamaged = errors.New("snapshot is damaged")
)
