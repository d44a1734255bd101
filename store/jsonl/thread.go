package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"harness"
)

// thread is what the store knows of one.
type thread struct {
	id    harness.SessionID
	ready chan struct{} // closed when the facts are known

	// files orders what is done to the files beside the log, and is held across
	// that: meta.json, snapshots, removal.
	files sync.Mutex

	// The rest is guarded by Store.mu.
	facts
	failed  error          // why nothing more is written until the next open
	removed bool           // whoever still holds this thread holds nothing
	saved   harness.Status // status and title that meta.json has
	title   string
	since   time.Time // when meta.json began to lag
	changed time.Time // the last commit
}

func newThread(id harness.SessionID) *thread { return &thread{id: id, ready: make(chan struct{})} }

// find returns a thread that is there, with its facts as of now, or
// ErrNotFound. Of one that is first asked for it cuts what a crash left.
func (s *Store) find(id harness.SessionID) (*thread, facts, error) {
	if harness.CheckID("thread", string(id)) != nil {
		return nil, facts{}, harness.ErrNotFound
	}
	if !s.owner {
		t := newThread(id)
		f, _, err := s.learn(id)
		t.facts = f
		return t, f, err
	}
	s.mu.Lock()
	t, known := s.threads[id]
	if !known {
		t = newThread(id)
		s.threads[id] = t
	}
	s.mu.Unlock()
	if known {
		<-t.ready
		s.mu.Lock()
		defer s.mu.Unlock()
		if !t.there || t.removed {
			return nil, facts{}, harness.ErrNotFound
		}
		return t, t.facts, nil
	}
	defer close(t.ready)
	f, failed, err := s.learn(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.threads, id)
		return nil, facts{}, err
	}
	t.facts, t.failed, t.saved, t.title = f, failed, f.row.Status, f.row.Title
	s.order.insert(keyOf(t.row))
	return t, t.facts, nil
}

// learn finds out about a thread, and cuts what a crash left of it. failed says
// why it may not be written.
func (s *Store) learn(id harness.SessionID) (f facts, failed, err error) {
	f, err = inspect(s.threadDir(id), id)
	switch {
	case errors.Is(err, harness.ErrInvalid):
		return facts{}, nil, err
	case err != nil: // the thread is there, but not for us
		f = facts{there: true, row: harness.Summary{Session: id, Kind: harness.Chat, Status: harness.StatusFailed, Reason: "cannot be read"}, damage: err}
	case !f.there:
		return facts{}, nil, harness.ErrNotFound
	}
	if s.owner && f.torn && f.damage == nil {
		if err := cut(filepath.Join(s.threadDir(id), logFile), f.end.at); err != nil {
			failed = fmt.Errorf("cut %s: %w: %w", id, err, harness.ErrStorage)
		}
	}
	return f, failed, nil
}

// cut shortens a log to what is whole.
func cut(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// all finds every thread of the directory and folds the rows that a crash left
// behind. It visits files only the first time.
func (s *Store) all(ctx context.Context) error {
	s.walk.Lock()
	defer s.walk.Unlock()
	if s.walked {
		return nil
	}
	found, err := s.each(ctx)
	if err != nil {
		return err
	}
	for _, t := range found {
		if err := s.refresh(ctx, t); err != nil {
			return err
		}
	}
	s.walked = true
	return nil
}

// each inspects every thread in the directory.
func (s *Store) each(ctx context.Context) ([]*thread, error) {
	names, err := os.ReadDir(filepath.Join(s.dir, threadsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	found := make([]*thread, len(names))
	errs := make([]error, len(names))
	abreast(len(names), func(i int) {
		id := harness.SessionID(names[i].Name())
		if !names[i].IsDir() || harness.CheckID("thread", string(id)) != nil || ctx.Err() != nil {
			return
		}
		t, _, err := s.find(id)
		switch {
		case err == nil:
			found[i] = t
		case errors.Is(err, harness.ErrInvalid): // a directory that somebody copied or renamed
			found[i] = s.foreign(id, err)
		case !errors.Is(err, harness.ErrNotFound):
			errs[i] = err
		}
	})
	n := 0
	for _, t := range found {
		if t != nil {
			found[n] = t
			n++
		}
	}
	return found[:n], errors.Join(append(errs, ctx.Err())...)
}

// foreign shows a directory whose files say that it is another's.
func (s *Store) foreign(id harness.SessionID, why error) *thread {
	t := newThread(id)
	close(t.ready)
	t.facts = facts{there: true, row: harness.Summary{Session: id, Kind: harness.Chat, Status: harness.StatusFailed, Reason: "not this thread's files"}, damage: fmt.Errorf("%w: %w", why, harness.ErrCorrupt)}
	if s.owner {
		s.mu.Lock()
		defer s.mu.Unlock()
		if have, ok := s.threads[id]; ok {
			return have
		}
		s.threads[id] = t
		s.order.insert(keyOf(t.row))
	}
	return t
}

// refresh folds a stale row again, from the newest snapshot. Of a damaged log it
// takes what is before the damage.
func (s *Store) refresh(ctx context.Context, t *thread) error {
	s.mu.Lock()
	stale := t.stale
	s.mu.Unlock()
	if !stale {
		return nil
	}
	st := new(harness.State)
	if snap, err := s.LoadSnapshot(ctx, t.id, 0); err == nil {
		if kept, err := harness.DecodeState(snap.State); err == nil && kept.Seq <= snap.Seq {
			st = kept
		}
	}
	for e, err := range s.Read(ctx, t.id, st.Seq) {
		if err != nil && !errors.Is(err, harness.ErrCorrupt) && !errors.Is(err, harness.ErrNotFound) {
			return err
		}
		if err != nil {
			break
		}
		st.Apply(e)
	}
	st.Session = t.id
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.stale || t.removed || st.Seq == 0 {
		return nil
	}
	row := st.Summary()
	if t.damage == nil {
		row.Seq = t.end.seq
	}
	if s.owner {
		s.order.remove(keyOf(t.row))
		s.order.insert(keyOf(row))
		if t.damage == nil {
			s.lag(t, time.Now())
		}
	}
	t.row, t.stale = row, false
	return nil
}
