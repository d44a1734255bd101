package native_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"

	"harness"
)

// shelf keeps artifacts in memory.
type shelf struct {
	mu   sync.Mutex // guards kept
	kept map[string][]byte
}

func newShelf() *shelf { return &shelf{kept: map[string][]byte{}} }

func (s *shelf) Put(_ context.Context, id string, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[id] = bytes.Clone(content)
	return nil
}

func (s *shelf) Open(_ context.Context, id string) (io.ReadSeekCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.kept[id]
	if !ok {
		return nil, harness.ErrNotFound
	}
	return closer{bytes.NewReader(content)}, nil
}

func (s *shelf) Forget(context.Context, harness.SessionID) error { return nil }

type closer struct{ *bytes.Reader }

func (closer) Close() error { return nil }

// alive reports whether a process runs.
func alive(pid string) bool {
	if pid == "" {
		return false
	}
	_, err := os.Stat(filepath.Join("/proc", pid))
	return err == nil
}
