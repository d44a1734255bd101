-- Sessions have a number because logs outlive names: a name may be taken again
-- after a removal. updated is in milliseconds. minute is updated without its low
-- 16 bits: the indexes of lists hold minute instead of updated, so that most
-- appends touch no index and the row is rewritten in its own page.
CREATE TABLE sessions(
	n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         text COLLATE "C" NOT NULL UNIQUE,
	head       bigint NOT NULL,
	origin     bigint REFERENCES sessions(n), -- the session it branched from
	origin_seq bigint NOT NULL,               -- 0 without origin
	born       bigint NOT NULL,               -- checksum of id, the origin's id, origin_seq
	parent     text COLLATE "C" NOT NULL,
	of_user    text COLLATE "C" NOT NULL,
	kind       text COLLATE "C" NOT NULL,
	status     text COLLATE "C" NOT NULL,
	minute     bigint NOT NULL,
	updated    bigint NOT NULL,
	crc        bigint NOT NULL,               -- of id, head, updated, summary
	summary    bytea  NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX sessions_minute      ON sessions(minute);
CREATE INDEX sessions_user        ON sessions(of_user, minute);
CREATE INDEX sessions_kind        ON sessions(kind, minute);
CREATE INDEX sessions_status      ON sessions(status, minute);
CREATE INDEX sessions_user_status ON sessions(of_user, status, minute);
CREATE INDEX sessions_parent      ON sessions(parent, minute) WHERE parent <> '';
CREATE INDEX sessions_origin      ON sessions(origin) WHERE origin IS NOT NULL;

-- A commit is one row; seq is its first event's.
CREATE TABLE commits(
	session  bigint NOT NULL,
	seq      bigint NOT NULL,
	last_seq bigint NOT NULL,
	crc      bigint NOT NULL,
	data     bytea  NOT NULL,
	PRIMARY KEY (session, seq)
) PARTITION BY HASH (session);
CREATE TABLE commits_0 PARTITION OF commits FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE commits_1 PARTITION OF commits FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE commits_2 PARTITION OF commits FOR VALUES WITH (MODULUS 4, REMAINDER 2);
CREATE TABLE commits_3 PARTITION OF commits FOR VALUES WITH (MODULUS 4, REMAINDER 3);

-- Snapshots are heads without messages. Messages say which snapshot sealed them,
-- so that a branch never sees one from after its branch point.
CREATE TABLE snapshots(
	session bigint NOT NULL,
	seq     bigint NOT NULL,
	crc     bigint NOT NULL,
	state   bytea  NOT NULL,
	PRIMARY KEY (session, seq)
);
CREATE TABLE messages(
	session bigint NOT NULL,
	idx     bigint NOT NULL,
	sealed  bigint NOT NULL,
	crc     bigint NOT NULL,
	data    bytea  NOT NULL,
	PRIMARY KEY (session, idx)
);

CREATE TABLE rules(
	n         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order of their making
	id        text COLLATE "C" NOT NULL UNIQUE,
	directory text COLLATE "C" NOT NULL,
	crc       bigint NOT NULL,
	data      bytea  NOT NULL
);
CREATE INDEX rules_directory ON rules(directory, n);
