package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"

	"harness"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// steps are the migrations in their order; step i makes version i+1. One that
// was released never changes.
func steps() ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	texts := make([]string, 0, len(names))
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

// ahead is by how many versions a schema may be newer than a build that works on
// it: nodes are upgraded one after the other, and the first one brings the
// schema along. So a migration never takes away, renames or narrows what the
// version before it uses; that is for the one after.
const ahead = 1

// Migrate brings the schema that url names to this build's version, and says
// which it was of; 0 is none.
func Migrate(ctx context.Context, url string) (from, to int, err error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return 0, 0, fmt.Errorf("open the database: %w: %w", err, harness.ErrInvalid)
	}
	fail := func(err error) (int, int, error) {
		return 0, 0, fmt.Errorf("migrate the database %q at %s: %w", config.Database, config.Host, classify(err))
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fail(err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := inspect(ctx, c, true); err != nil {
		return fail(err)
	}
	if from, err = version(ctx, c); err != nil && !errors.Is(err, harness.ErrNotFound) {
		return fail(err)
	}
	if err := migrate(ctx, c); err != nil {
		return fail(err)
	}
	if to, err = version(ctx, c); err != nil {
		return fail(err)
	}
	return from, to, nil
}

// migrate brings the schema to this build's version, or refuses one that is
// newer than it may be. Of several processes one does the work and the others wait for it: the
// lock is the transaction's, so it ends with it.
func migrate(ctx context.Context, c *pgx.Conn) error {
	steps, err := steps()
	if err != nil {
		return err
	}
	have, err := version(ctx, c)
	if err == nil && have >= len(steps) && have <= len(steps)+ahead {
		return nil
	}
	if err != nil && !errors.Is(err, harness.ErrNotFound) {
		return err
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(7526472, hashtext(current_schema()))"); err != nil {
			return err
		}
		have, err := version(ctx, tx)
		switch {
		case errors.Is(err, harness.ErrNotFound):
			if _, err := tx.Exec(ctx, "CREATE TABLE harness_schema(version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())"); err != nil {
				return err
			}
		case err != nil:
			return err
		case have > len(steps)+ahead:
			return fmt.Errorf("the schema is of version %d, this build knows %d: %w", have, len(steps), harness.ErrUnsupported)
		}
		for i := have; i < len(steps); i++ {
			if _, err := tx.Exec(ctx, steps[i]); err != nil {
				return fmt.Errorf("migration %d: %w", i+1, err)
			}
			if _, err := tx.Exec(ctx, "INSERT INTO harness_schema(version) VALUES($1)", i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// version is that of the schema. A place without tables of ours is ErrNotFound,
// one with tables of somebody else's ErrInvalid. It reads the catalogue itself:
// functions that look a name up may remember that it was not there.
func version(ctx context.Context, q querier) (int, error) {
	var ours, theirs bool
	err := q.QueryRow(ctx, `SELECT coalesce(bool_or(relname = 'harness_schema'), false), coalesce(bool_or(relname = 'sessions'), false)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = current_schema()`).Scan(&ours, &theirs)
	switch {
	case err != nil:
		return 0, err
	case !ours && theirs:
		return 0, fmt.Errorf("there are tables of somebody else's: %w", harness.ErrInvalid)
	case !ours:
		return 0, harness.ErrNotFound
	}
	var v int
	err = q.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM harness_schema").Scan(&v)
	return v, err
}

// querier is a connection, a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// inspect refuses a server whose acknowledgements mean nothing, and returns the
// channel that the processes of this schema notify each other on.
func inspect(ctx context.Context, c *pgx.Conn, write bool) (channel string, err error) {
	var fsync, sync, schema string
	var replica bool
	err = c.QueryRow(ctx, "SELECT current_setting('fsync'), current_setting('synchronous_commit'), coalesce(current_schema(), ''), pg_is_in_recovery()").
		Scan(&fsync, &sync, &schema, &replica)
	switch {
	case err != nil:
		return "", err
	case schema == "":
		return "", fmt.Errorf("the search_path names no schema that is there: %w", harness.ErrInvalid)
	case write && (fsync == "off" || sync == "off"):
		return "", fmt.Errorf("the server acknowledges before it flushes (fsync %s, synchronous_commit %s): %w", fsync, sync, harness.ErrUnsupported)
	case write && replica:
		return "", fmt.Errorf("the server is a standby: %w", harness.ErrStorage)
	}
	return fmt.Sprintf("harness_%08x", crc32.ChecksumIEEE([]byte(schema))), nil
}
