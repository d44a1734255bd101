-- Sessions that were removed and still have rows in commits, messages or
-- snapshots. Those go a few at a time, so that a long log is no long transaction;
-- whoever finds some goes on with them.
CREATE TABLE leftovers(
	session bigint PRIMARY KEY
);
