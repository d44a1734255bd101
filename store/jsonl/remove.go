package jsonl

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"harness"
)

// Remove implements [harness.Remover]. When it returns the thread is gone and
// its id is free.
func (s *Store) Remove(ctx context.Context, id harness.SessionID) error {
	fail := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("remove %s: %w", id, err)
	}
	if !s.owner {
		return fail(errClosed)
	}
	if _, err := s.index(ctx); err != nil { // finds every branch
		return fail(err)
	}
	apply := func(w *writer, t *task) {
		w.commit()
		t.Answer(w.remove(id))
	}
	return fail(s.doLow(ctx, apply))
}

func (w *writer) remove(id harness.SessionID) error {
	s := w.s
	t, _, err := s.find(id)
	if err != nil {
		return err
	}
	if branches := s.branchesOf(id); len(branches) > 0 {
		return harness.RefuseRemoval(branches)
	}
	w.logs.drop(t)
	t.files.Lock()
	defer t.files.Unlock()
	threads := filepath.Join(s.dir, threadsDir)
	bin := filepath.Join(threads, removedName+rand.Text()) // in one step: who sweeps may be there at once
	if err := os.Rename(s.threadDir(id), bin); err != nil {
		return fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	s.mu.Lock()
	t.removed = true
	delete(s.threads, id)
	delete(s.dirty, t)
	s.order.remove(keyOf(t.row))
	s.mu.Unlock()
	err = syncDir(threads)
	os.RemoveAll(bin) // or after the next open
	return err
}

// branchesOf returns the threads whose history continues in id.
func (s *Store) branchesOf(id harness.SessionID) (branches []harness.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.threads {
		if t.from != nil && t.from.Session == id && t.id != id {
			branches = append(branches, t.id)
		}
	}
	return branches
}
