package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"harness"
	"harness/internal/chunk"

	"github.com/jackc/pgx/v5"
)

// Fetch implements [harness.Depot]. What it returns asks the database for a
// piece at a time and holds no connection.
func (s *Store) Fetch(ctx context.Context, place, name string) (io.ReadSeekCloser, error) {
	f := &fetched{store: s, ctx: ctx, name: name, at: -1}
	err := s.query(ctx, func(ctx context.Context, q querier) error {
		err := q.QueryRow(ctx, "SELECT b.digest, b.size FROM files f JOIN blobs b ON b.digest = f.digest WHERE f.place = $1 AND f.name = $2", place, name).Scan(&f.digest, &f.size)
		if errors.Is(err, pgx.ErrNoRows) {
			return harness.ErrNotFound
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("fetch %s of %s: %w", name, place, err)
	}
	return f, nil
}

// fetched is a file that is being read.
type fetched struct {
	store  *Store
	ctx    context.Context // of whoever asked: a reader has none of its own
	name   string
	digest []byte
	size   int64
	pos    int64
	at     int64  // which piece is loaded
	piece  []byte // it
}

func (f *fetched) Read(to []byte) (int, error) {
	if f.pos >= f.size {
		return 0, io.EOF
	}
	if n := f.pos / pieceBytes; n != f.at {
		if err := f.load(n); err != nil {
			return 0, err
		}
	}
	n := copy(to, f.piece[f.pos-f.at*pieceBytes:])
	f.pos += int64(n)
	return n, nil
}

func (f *fetched) load(n int64) error {
	var crc int64
	var data []byte
	err := f.store.query(f.ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, "SELECT crc, data FROM pieces WHERE digest = $1 AND n = $2", f.digest, n).Scan(&crc, &data)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("fetch %s: it has gone: %w", f.name, harness.ErrNotFound)
	case err != nil:
		return fmt.Errorf("fetch %s: %w", f.name, err)
	case chunk.Checksum(data) != crc || int64(len(data)) != min(f.size-n*pieceBytes, pieceBytes):
		return fmt.Errorf("fetch %s: piece %d: wrong checksum: %w", f.name, n, harness.ErrCorrupt)
	}
	f.at, f.piece = n, bytes.Clone(data)
	return nil
}

func (f *fetched) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.pos
	case io.SeekEnd:
		offset += f.size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek before the beginning of %s: %w", f.name, harness.ErrInvalid)
	}
	f.pos = offset
	return offset, nil
}

func (f *fetched) Close() error {
	f.piece, f.at = nil, -1
	return nil
}
