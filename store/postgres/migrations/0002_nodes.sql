-- Processes that own sessions. dead is final: whoever took a session from one
-- has set it.
CREATE TABLE owners(
	name    text COLLATE "C" PRIMARY KEY,
	ttl     interval    NOT NULL,
	expires timestamptz NOT NULL,
	dead    boolean     NOT NULL DEFAULT false
);

-- Epochs are of all sessions, so that none comes back with a session's name.
CREATE SEQUENCE epochs;
CREATE TABLE leases(
	session text COLLATE "C" PRIMARY KEY,
	owner   text COLLATE "C" NOT NULL REFERENCES owners(name),
	epoch   bigint NOT NULL
);
CREATE INDEX leases_owner ON leases(owner);

-- Commands for sessions that another process owns.
CREATE TABLE orders(
	n        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	session  text COLLATE "C" NOT NULL,
	key      text COLLATE "C" NOT NULL,
	body     bytea NOT NULL,
	answer   bytea,
	answered timestamptz,
	UNIQUE (session, key)
);
CREATE INDEX orders_open     ON orders(session, n) WHERE answered IS NULL;
CREATE INDEX orders_answered ON orders(answered) WHERE answered IS NOT NULL;
