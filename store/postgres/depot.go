package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"harness"
	"harness/internal/chunk"

	"github.com/jackc/pgx/v5"
)

// pieceBytes is how much of a file is in one row, and in memory while it is read.
const pieceBytes = 1 << 20

// deliverAttempts is how often a delivery is tried again that the server has
// undone because of others.
const deliverAttempts = 5

// Places implements [harness.Depot], a page at a time.
func (s *Store) Places(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for last := ""; ; {
			var names []string
			err := s.query(ctx, func(ctx context.Context, q querier) error {
				rows, err := q.Query(ctx, "SELECT name FROM places p WHERE name > $1 AND EXISTS (SELECT FROM files f WHERE f.place = p.name) ORDER BY name LIMIT $2", last, pageRows)
				if err == nil {
					names, err = pgx.CollectRows(rows, pgx.RowTo[string])
				}
				return err
			})
			if err != nil {
				yield("", fmt.Errorf("places: %w", err))
				return
			}
			for _, last = range names {
				if !yield(last, nil) {
					return
				}
			}
			if len(names) < pageRows {
				return
			}
		}
	}
}

// Place implements [harness.Depot].
func (s *Store) Place(ctx context.Context, name string, known uint64) (p harness.Place, err error) {
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		p = harness.Place{}
		rows, err := q.Query(ctx, `SELECT p.version, f.name, f.session, f.digest, b.size FROM places p
			LEFT JOIN files f ON f.place = p.name AND p.version <> $2 LEFT JOIN blobs b ON b.digest = f.digest
			WHERE p.name = $1 ORDER BY f.name`, name, int64(known))
		if err != nil {
			return err
		}
		var version int64
		var file, session *string
		var digest []byte
		var size *int64
		_, err = pgx.ForEachRow(rows, []any{&version, &file, &session, &digest, &size}, func() error {
			p.Version = uint64(version)
			if file == nil {
				return nil
			}
			if size == nil || len(digest) != sha256.Size {
				return fmt.Errorf("file %s has no content: %w", *file, harness.ErrCorrupt)
			}
			p.Files = append(p.Files, harness.Filed{Name: *file, Session: harness.SessionID(*session), Size: *size, SHA256: [sha256.Size]byte(digest)})
			return nil
		})
		return err
	})
	if err != nil {
		return harness.Place{}, fmt.Errorf("place %s: %w", name, err)
	}
	return p, nil
}

// Deliver implements [harness.Depot].
func (s *Store) Deliver(ctx context.Context, d harness.Delivery) (version uint64, err error) {
	if err := d.Check(); err != nil {
		return 0, err
	}
	d.Add = slices.Clone(d.Add)
	sums := make(map[string][sha256.Size]byte, len(d.Add)) // by name
	size := 0
	for _, p := range d.Add {
		sums[p.Name] = sha256.Sum256(p.Content)
		size += len(p.Content)
	}
	slices.SortFunc(d.Add, func(a, b harness.Parcel) int { // so that no two wait for one another
		x, y := sums[a.Name], sums[b.Name]
		return bytes.Compare(x[:], y[:])
	})
	patience := s.timeout + time.Duration(size>>20)*perMegabyte
	for n := 0; n < deliverAttempts; n++ {
		err = s.transactFor(ctx, patience, patience, func(ctx context.Context, tx pgx.Tx) error {
			version, err = deliver(ctx, tx, d, sums)
			return err
		})
		if !passing(err) {
			break
		}
	}
	if err != nil {
		return 0, fmt.Errorf("deliver to %s: %w", d.Place, err)
	}
	s.announce(harness.AboutPlace(d.Place))
	return version, nil
}

// perMegabyte is what a megabyte adds to the time that a round trip may take.
const perMegabyte = time.Second

func deliver(ctx context.Context, tx pgx.Tx, d harness.Delivery, sums map[string][sha256.Size]byte) (version uint64, err error) {
	var has int64
	b := &pgx.Batch{}
	b.Queue("INSERT INTO places(name, version) VALUES($1, 0) ON CONFLICT DO NOTHING", d.Place)
	b.Queue("SELECT version FROM places WHERE name = $1 FOR UPDATE", d.Place).QueryRow(func(row pgx.Row) error { return row.Scan(&has) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return 0, err
	}
	if d.At != harness.AnyVersion && d.At != uint64(has) {
		return 0, fmt.Errorf("it is of version %d, not %d: %w", has, d.At, harness.ErrConflict)
	}
	for _, p := range d.Add {
		if err := keepBlob(ctx, tx, sums[p.Name], p.Content); err != nil {
			return 0, err
		}
	}
	gone := slices.Clone(d.Remove)
	for _, p := range d.Add {
		gone = append(gone, p.Name)
	}
	let, err := letGo(ctx, tx, "place = $1 AND name = ANY($2::text[])", d.Place, gone)
	if err != nil {
		return 0, err
	}
	b = &pgx.Batch{}
	for _, p := range d.Add {
		sum := sums[p.Name]
		b.Queue("INSERT INTO files(place, name, session, digest) VALUES($1, $2, $3, $4)", d.Place, p.Name, word(string(p.Session)), sum[:])
	}
	b.Queue("UPDATE places SET version = nextval('versions') WHERE name = $1 RETURNING version", d.Place).QueryRow(func(row pgx.Row) error { return row.Scan(&has) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return 0, err
	}
	return uint64(has), dropBlobs(ctx, tx, let)
}

// keepBlob makes sure that content is there, and stays until the transaction
// ends.
func keepBlob(ctx context.Context, tx pgx.Tx, sum [sha256.Size]byte, content []byte) error {
	for {
		made, err := tx.Exec(ctx, "INSERT INTO blobs(digest, size) VALUES($1, $2) ON CONFLICT DO NOTHING", sum[:], int64(len(content)))
		if err != nil {
			return err
		}
		if made.RowsAffected() == 1 {
			break
		}
		there, err := tx.Exec(ctx, "SELECT FROM blobs WHERE digest = $1 FOR KEY SHARE", sum[:])
		if err != nil || there.RowsAffected() == 1 {
			return err
		} // else it has just been dropped
	}
	for n := 0; n*pieceBytes < len(content); n++ {
		piece := content[n*pieceBytes : min((n+1)*pieceBytes, len(content))]
		if _, err := tx.Exec(ctx, "INSERT INTO pieces(digest, n, crc, data) VALUES($1, $2, $3, $4)", sum[:], n, chunk.Checksum(piece), piece); err != nil {
			return err
		}
	}
	return nil
}

// letGo removes the files that a condition chooses, and returns what they had.
func letGo(ctx context.Context, tx pgx.Tx, where string, args ...any) (digests [][]byte, err error) {
	rows, err := tx.Query(ctx, "DELETE FROM files WHERE "+where+" RETURNING digest", args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[[]byte])
}

// dropBlobs removes those that no file has any more. They are locked first, so
// that the next statement sees every file that somebody was adding.
func dropBlobs(ctx context.Context, tx pgx.Tx, digests [][]byte) error {
	if len(digests) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	b.Queue("SELECT FROM blobs WHERE digest = ANY($1::bytea[]) ORDER BY digest FOR UPDATE", digests)
	b.Queue("DELETE FROM blobs b WHERE digest = ANY($1::bytea[]) AND NOT EXISTS (SELECT FROM files f WHERE f.digest = b.digest)", digests)
	return tx.SendBatch(ctx, b).Close()
}

// forgetFiles removes the files of a session, wherever they are, and places that
// no other session has files in.
func forgetFiles(ctx context.Context, tx pgx.Tx, id harness.SessionID) (places []string, err error) {
	rows, err := tx.Query(ctx, `SELECT name FROM places WHERE name IN (SELECT place FROM files WHERE session = $1 AND session <> '') ORDER BY name FOR UPDATE`, word(string(id)))
	if err != nil {
		return nil, err
	}
	if places, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(places) == 0 {
		return nil, err
	}
	let, err := letGo(ctx, tx, "session = $1", word(string(id)))
	if err != nil {
		return nil, err
	}
	rest, err := letGo(ctx, tx, "place = ANY($1::text[]) AND NOT EXISTS (SELECT FROM files o WHERE o.place = files.place AND o.session <> '')", places)
	if err != nil {
		return nil, err
	}
	let = append(let, rest...)
	b := &pgx.Batch{}
	b.Queue("UPDATE places SET version = nextval('versions') WHERE name = ANY($1::text[])", places)
	b.Queue("DELETE FROM places p WHERE name = ANY($1::text[]) AND NOT EXISTS (SELECT FROM files f WHERE f.place = p.name)", places)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	return places, dropBlobs(ctx, tx, let)
}

// Hold implements [harness.Depot]. A hold has a connection of its own, and ends
// with it.
func (s *Store) Hold(ctx context.Context, place string) (release func(), err error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if s.looking {
		return nil, errClosed
	}
	fail := func(err error) (func(), error) { return nil, fmt.Errorf("hold %s: %w", place, settle(ctx, err)) }
	c, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return fail(err)
	}
	release = func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		c.Close(end)
	}
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock(7526473, hashtext(current_schema() || ' ' || $1))", place); err != nil {
		release()
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("somebody else does: %w", err)
		}
		return fail(err)
	}
	return release, nil
}
