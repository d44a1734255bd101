-- Files of no log. Content is by its SHA-256, in pieces; whoever adds a file
-- locks its content against removal.
CREATE TABLE blobs(
	digest bytea  PRIMARY KEY,
	size   bigint NOT NULL
);
CREATE TABLE pieces(
	digest bytea  NOT NULL REFERENCES blobs(digest) ON DELETE CASCADE,
	n      int    NOT NULL,
	crc    bigint NOT NULL,
	data   bytea  NOT NULL,
	PRIMARY KEY (digest, n)
);
ALTER TABLE pieces ALTER COLUMN data SET STORAGE EXTERNAL; -- packs and archives are compressed already

-- Versions are of all places, so that none comes back with a place's name.
CREATE SEQUENCE versions;
CREATE TABLE places(
	name    text COLLATE "C" PRIMARY KEY,
	version bigint NOT NULL
);
CREATE TABLE files(
	place   text COLLATE "C" NOT NULL REFERENCES places(name),
	name    text COLLATE "C" NOT NULL,
	session text COLLATE "C" NOT NULL, -- empty: of none
	digest  bytea NOT NULL REFERENCES blobs(digest),
	PRIMARY KEY (place, name)
);
CREATE INDEX files_session ON files(session) WHERE session <> '';
CREATE INDEX files_digest  ON files(digest);
