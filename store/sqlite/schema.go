package sqlite

// applicationID marks our databases in the file's header: "HRNS".
const applicationID = 0x48524e53

// format is the version of the schema, kept in user_version. A build refuses a
// newer one.
const format = 1

// Sessions have a number because logs outlive names: a removed session's rows
// are swept away later, while its name may already be taken again. AUTOINCREMENT
// never gives a number twice.
//
// updated is in milliseconds. minute is updated without its low 16 bits: the
// list indexes hold minute instead of updated, so that an append touches them
// once in 65 seconds and not every time; SQLite sorts within a minute when it
// reads.
//
// Snapshots are heads without messages. Old ones are thinned out, so that any
// position stays near one: see thin. Messages say which snapshot sealed them, so that a branch never
// sees one from after its branch point.
const schema = `
CREATE TABLE sessions(
	n          INTEGER PRIMARY KEY AUTOINCREMENT,
	id         TEXT    NOT NULL UNIQUE,
	head       INTEGER NOT NULL,
	origin     INTEGER,          -- n of the session it branched from
	origin_seq INTEGER NOT NULL, -- 0 without origin
	parent     TEXT    NOT NULL,
	user       TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	status     TEXT    NOT NULL,
	minute     INTEGER NOT NULL,
	updated    INTEGER NOT NULL,
	crc        INTEGER NOT NULL, -- of everything above but n and what summary repeats
	summary    BLOB    NOT NULL
);
CREATE INDEX sessions_minute      ON sessions(minute);
CREATE INDEX sessions_user        ON sessions(user, minute);
CREATE INDEX sessions_kind        ON sessions(kind, minute);
CREATE INDEX sessions_status      ON sessions(status, minute);
CREATE INDEX sessions_user_status ON sessions(user, status, minute);
CREATE INDEX sessions_parent      ON sessions(parent, minute) WHERE parent <> '';
CREATE INDEX sessions_origin      ON sessions(origin) WHERE origin IS NOT NULL;

CREATE TABLE commits(
	session   INTEGER NOT NULL,
	last_seq  INTEGER NOT NULL,
	first_seq INTEGER NOT NULL,
	crc       INTEGER NOT NULL,
	data      BLOB    NOT NULL
);
CREATE UNIQUE INDEX commits_place ON commits(session, last_seq);

CREATE TABLE snapshots(
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	crc     INTEGER NOT NULL,
	state   BLOB    NOT NULL
);
CREATE UNIQUE INDEX snapshots_place ON snapshots(session, seq);

CREATE TABLE messages(
	session INTEGER NOT NULL,
	idx     INTEGER NOT NULL,
	sealed  INTEGER NOT NULL, -- seq of the snapshot that brought it
	crc     INTEGER NOT NULL,
	data    BLOB    NOT NULL
);
CREATE UNIQUE INDEX messages_place ON messages(session, idx);

CREATE TABLE removed(n INTEGER PRIMARY KEY); -- sessions whose rows are still to be swept
`

// rulesSchema came later: it is made in a database that has no rules yet, and a
// build that does not know it leaves it alone.
const rulesSchema = `
CREATE TABLE IF NOT EXISTS rules(
	n         INTEGER PRIMARY KEY, -- in the order of their making
	id        TEXT    NOT NULL UNIQUE,
	directory TEXT    NOT NULL,
	crc       INTEGER NOT NULL,
	data      BLOB    NOT NULL
);
CREATE INDEX IF NOT EXISTS rules_directory ON rules(directory);
`

// objects are the names that schema creates, for the check at open.
var objects = []string{
	"sessions", "sessions_minute", "sessions_user", "sessions_kind", "sessions_status", "sessions_user_status", "sessions_parent", "sessions_origin",
	"commits", "commits_place", "snapshots", "snapshots_place", "messages", "messages_place", "removed",
}
