package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"harness"
)

// spool is the events of a run, on disk, as they go over the wire. It has one
// writer and any number of readers, which never wait for each other.
type spool struct {
	file  *os.File
	limit int64

	mu      sync.Mutex // guards what follows
	frames  uint64
	size    int64
	every   []int64 // where each strideth event begins
	ended   bool
	changed chan struct{} // closed when there is more, and replaced
	broken  error
}

// stride is how many events lie between two places that are remembered.
const stride = 256

// errFull ends a run that says more than is kept.
var errFull = fmt.Errorf("the run said more than is kept of one: %w", harness.ErrTooLarge)

// newSpool makes a spool that has no name: it is gone with the process.
func newSpool(dir string, limit int64) (*spool, error) {
	f, err := os.CreateTemp(dir, "run-*.events")
	if err != nil {
		return nil, fmt.Errorf("keep the run: %w", err)
	}
	_ = os.Remove(f.Name()) // a system that refuses keeps it until the directory goes
	return &spool{file: f, limit: limit, changed: make(chan struct{})}, nil
}

// add appends an event, numbers it, and returns its number. One that ends the
// run is always taken.
func (s *spool) add(f Frame) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return 0, s.broken
	}
	f.ID = s.frames + 1
	b, err := f.appendSSE(nil)
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w: %w", f.Type, err, harness.ErrInvalid)
	}
	switch {
	case len(b) > MaxFrame:
		return 0, fmt.Errorf("%s of %d bytes: %w", f.Type, len(b), harness.ErrTooLarge)
	case s.size+int64(len(b)) > s.limit && !f.Type.Ends():
		return 0, errFull
	}
	if _, err := s.file.WriteAt(b, s.size); err != nil {
		s.broken = fmt.Errorf("keep the run: %w: %w", err, harness.ErrStorage)
		s.wake()
		return 0, s.broken
	}
	if s.frames%stride == 0 {
		s.every = append(s.every, s.size)
	}
	s.frames, s.size, s.ended = f.ID, s.size+int64(len(b)), f.Type.Ends()
	s.wake()
	return f.ID, nil
}

func (s *spool) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// look is how much there is, whether that is all, and what is closed when it
// changes.
func (s *spool) look() (frames uint64, size int64, ended bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frames, s.size, s.ended || s.broken != nil, s.changed
}

// after finds where the event after one begins, or the end of what there is.
func (s *spool) after(frame uint64) (int64, error) {
	s.mu.Lock()
	frames, size := s.frames, s.size
	var at int64
	if frame < frames {
		at = s.every[frame/stride]
	}
	s.mu.Unlock()
	if frame >= frames {
		return size, nil
	}
	buf, skip, nl := make([]byte, 32<<10), frame%stride, false
	for skip > 0 {
		n, err := s.file.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return 0, fmt.Errorf("look for event %d: %w", frame+1, errors.Join(err, io.ErrUnexpectedEOF))
		}
		for i, c := range buf[:n] { // an event ends with an empty line, and has no other
			if c == '\n' && nl {
				if skip--; skip == 0 {
					return at + int64(i) + 1, nil
				}
			}
			nl = c == '\n'
		}
		at += int64(n)
	}
	return at, nil
}

func (s *spool) close() error { return s.file.Close() }
