// Package sqlite is the embedded store: one SQLite database in WAL mode with
// full sync, in pure Go.
//
// One goroutine owns the one writing connection. It takes every append that is
// waiting, of any session, applies them in one transaction and answers all of
// them after the COMMIT, so a flush is shared by whoever waits. A commit is one
// row: its envelopes joined by newlines, with a checksum.
//
// It guarantees what [harness.Store] promises and: nothing acknowledged is lost
// by a killed process; nothing is lost by a power failure if the disk honours
// flushes; a flipped bit in a log, a message or a snapshot is found when it is
// read; no read holds a transaction while its consumer works. After an I/O
// error the store refuses to write until it is opened again, because the state
// of a failed flush is unknown; a full disk only refuses the commits that did
// not fit.
//
// It does not guarantee that two processes can share a file: the second is
// refused with [harness.ErrLocked]. It does not notice bits that flip in the
// write-ahead log before a checkpoint has copied them; SQLite takes those for
// the end of the log.
package sqlite
