// Package postgres is the store that several processes share: one PostgreSQL
// database and nothing beside it.
//
// A process writes in groups. Every append that is waiting, of any session, is
// sent as one transaction in one round trip, and all are answered after its
// commit, so a flush is shared by whoever waits; two groups are under way at a
// time. A commit is one row: its envelopes joined by newlines, with a
// checksum. The statement moves a session's head only if it is where the writer
// believes it is, and the row's key is (session, seq), so no two writers, in
// whatever processes, can both have a position.
//
// It guarantees what [harness.Store] promises and: nothing acknowledged is lost
// by a killed process or a killed server; a flipped bit in a log, a message, a
// snapshot or a session's row is found when it is read; no read holds a
// transaction while its consumer works; a connection that is lost is made again
// for the next call. An append whose connection is lost before the answer has an
// unknown outcome and says so.
//
// It is a [harness.Follower], [harness.Leaser] and [harness.Inbox]: rows are the
// truth, notifications only hints of where to look. A process sends at most one
// for each group of commits, in a transaction of its own, and one that misses
// some catches up from its cursor. All time is the database's.
//
// Nothing depends on the state of a database session but the one connection
// that listens, so a pooler in session mode may stand between.
//
// It does not guarantee more than the server does: one that acknowledges before
// it flushes is refused at [Open], but a failover to a standby that is behind
// loses what the standby did not have.
package postgres
