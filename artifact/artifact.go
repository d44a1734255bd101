// Package artifact keeps the content of artifacts in a directory: one folder a
// session, one file an artifact, named by its content.
//
// It guarantees that what is there is whole and was synced, also after a kill
// or a full disk, and that no name leaves the directory.
package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"harness"
	"harness/internal/whole"
)

// Shelf is a directory of artifacts.
type Shelf struct{ root *os.Root }

var _ harness.Shelf = (*Shelf)(nil)

// Open uses a directory, which it makes if need be.
func Open(dir string) (*Shelf, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("artifacts: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("artifacts: %w", err)
	}
	return &Shelf{root}, nil
}

// Close releases the directory.
func (s *Shelf) Close() error { return s.root.Close() }

// Put writes beside and renames, so that a file is whole or not there.
func (s *Shelf) Put(_ context.Context, id string, content []byte) error {
	session, name, err := harness.ParseArtifactID(id)
	if err != nil {
		return err
	}
	if len(content) > harness.MaxArtifact {
		return fmt.Errorf("artifact of %d bytes, more than %d: %w", len(content), harness.MaxArtifact, harness.ErrTooLarge)
	}
	full := path.Join(string(session), name)
	if info, err := s.root.Stat(full); err == nil && info.Size() == int64(len(content)) {
		return nil
	}
	if err := s.root.Mkdir(string(session), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return failed(err)
	}
	return errors.Join(failed(whole.Write(s.root, full, content)), failed(whole.Sync(s.root, ".")))
}

// Open reads an artifact.
func (s *Shelf) Open(_ context.Context, id string) (io.ReadSeekCloser, error) {
	session, name, err := harness.ParseArtifactID(id)
	if err != nil {
		return nil, err
	}
	f, err := s.root.Open(path.Join(string(session), name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the content of artifact %s is not kept here: %w", id, harness.ErrNotFound)
	case err != nil:
		return nil, failed(err)
	}
	return f, nil
}

// Forget removes a session's folder.
func (s *Shelf) Forget(_ context.Context, id harness.SessionID) error {
	if _, err := harness.ParseSessionID(string(id)); err != nil {
		return err
	}
	return failed(s.root.RemoveAll(string(id)))
}

func failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("artifacts: the disk is full: %w: %w", err, harness.ErrStorage)
	}
	return fmt.Errorf("artifacts: %w: %w", err, harness.ErrStorage)
}
