// Package jsonl is the store for people: a directory, usually .harness, of
// plain text that tail, grep and jq can read while it is written.
//
//	.harness/
//	  .gitignore               "*": nothing of this is committed by accident
//	  lock                     who may write: the process that holds it
//	  rules.jsonl              standing rules, made and revoked: one a line, only ever appended to
//	  threads/{id}/
//	    events.jsonl           the log: one envelope a line, only ever appended to
//	    meta.json              the thread's row in lists, and where a branch came from
//	    snapshots/             derived; may be deleted while nobody writes
//
// The log alone is the truth. A line is an envelope exactly as
// [harness.Event.JSON] gives it. A commit of several events is all or nothing:
// each of its lines but the last ends with a space, so that a file that ends
// behind such a line ends inside a commit. JSON does not mind the space; line n
// of a thread that is no branch is event n. A branch holds only its own lines;
// meta.json names its parent and the position where the two part, and
// [Store.Read] joins them: with jq, read the parent's lines up to that seq first.
//
// One goroutine writes. It takes every append that waits, of any thread, writes
// all lines, flushes every touched file once and side by side, and answers all.
// meta.json is an index and lags: it is written when a thread is made, when its
// status or title changes, when it has been quiet for a second, at the latest
// after ten, and on close. It says how long the log was; if the log has grown
// since, the row is folded again from the newest snapshot, so that a list after
// a crash is as right as one before.
//
// A rule is in rules.jsonl, flushed, before the event that tells of it is
// written. A crash in between leaves a rule that stands, and a question that it
// answers at the next start.
//
// It guarantees what [harness.Store] promises and: nothing acknowledged is lost
// by a killed process, nor by a power failure if the disk honours flushes; what
// a crash left half written at a log's end is cut when the thread is next used;
// any other damage refuses that thread, with its byte, and no other, and changes
// no file; a flush that failed is never tried again. Rows in lists are what the
// log adds up to: a writer whose Summary is not its state's may find after a
// crash the row that the fold says.
//
// It does not guarantee that two processes can write one directory: the second
// is refused with [harness.ErrLocked]. It does not keep checksums: a flipped bit
// that leaves an envelope readable is not noticed. Where file names do not tell
// upper from lower case, an id that differs only by case from an existing one is
// refused with [harness.ErrInvalid].
package jsonl
