package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"
)

// ErrClosed says that the session's state is closed.
var ErrClosed = errors.New("the session is closed")

// maxSeen is how many files a session remembers as read. Who has read more has
// to read the forgotten ones again before changing them.
const maxSeen = 4096

// State is what the calls of one session remember of each other: which files
// were read and how they looked, the todo list, and processes that run in the
// background. It is not durable: a session that is opened again runs nothing,
// and has read what it is told with [State.Recall].
type State struct {
	changing chan struct{}  // holds a value while a call changes a file
	running  sync.WaitGroup // what waits for background processes

	mu     sync.Mutex // guards what follows
	closed bool
	seen   map[string]digest // by path
	todos  []Todo
	jobs   []*job // in the order of their start
	last   int    // number of the last job
}

// digest is what a file's content is compared by.
type digest = [sha256.Size]byte

// NewState returns the state of a session that has done nothing. Close ends it.
func NewState() *State {
	return &State{changing: make(chan struct{}, 1), seen: make(map[string]digest)}
}

// Close kills the background processes and returns when they are gone. Nothing
// can be started afterwards. It may be called again.
func (s *State) Close() error {
	s.mu.Lock()
	s.closed = true
	jobs := slices.Clone(s.jobs)
	s.mu.Unlock()
	var errs []error
	for _, j := range jobs {
		j.kill()
	}
	for _, j := range jobs {
		<-j.done
		errs = append(errs, j.err)
	}
	s.running.Wait()
	return errors.Join(errs...)
}

// Todos is the session's list.
func (s *State) Todos() []Todo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.todos)
}

// SetTodos replaces the list, as a session does that goes on with an old one.
func (s *State) SetTodos(list []Todo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.todos = slices.Clone(list)
}

// change keeps the session's other calls from changing files until done is
// called, so that a file is as it was checked when it is written.
func (s *State) change(ctx context.Context) (done func(), err error) {
	select {
	case s.changing <- struct{}{}:
		return func() { <-s.changing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// saw remembers the content of a file as the model knows it.
func (s *State) saw(name string, content []byte) {
	sum := sha256.Sum256(content)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.seen[name]; !known && len(s.seen) >= maxSeen {
		for other := range s.seen {
			delete(s.seen, other)
			break
		}
	}
	s.seen[name] = sum
}

// Recall remembers what results of an earlier process say of files, oldest first,
// each by its tool's name and its Data. What was read here is known better.
func (s *State) Recall(results iter.Seq2[string, json.RawMessage]) {
	then := make(map[string]digest)
	for name, raw := range results {
		switch name {
		case "read", "write", "edit", "multi_edit", "patch":
		default:
			continue
		}
		var k known
		if json.Unmarshal(raw, &k) != nil || k.Path == "" {
			continue
		}
		if sum, err := hex.DecodeString(k.SHA256); err == nil && len(sum) == sha256.Size && (len(then) < maxSeen || then[k.Path] != digest{}) {
			then[k.Path] = digest(sum)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, sum := range then {
		if _, here := s.seen[path]; !here && len(s.seen) < maxSeen {
			s.seen[path] = sum
		}
	}
}

// known says whether the model has read the file, and whether it has read it
// with this content.
func (s *State) known(name string, content []byte) (read, same bool) {
	sum := sha256.Sum256(content)
	s.mu.Lock()
	defer s.mu.Unlock()
	was, read := s.seen[name]
	return read, read && was == sum
}
