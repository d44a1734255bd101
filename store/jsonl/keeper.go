package jsonl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// When a meta.json that lags is written: at once if its status or title has
// changed, or when the thread has been quiet, or when it has lagged for long.
const (
	quiet = time.Second
	long  = 10 * time.Second
	pause = 100 * time.Millisecond // between two looks, so that changes gather
)

// keeper does what nobody waits for: it brings meta.json up to date and deletes
// what was removed.
type keeper struct {
	s    *Store
	wake chan struct{} // size 1: a status changed, a thread lags, or one was removed
	quit chan struct{}
}

func newKeeper(s *Store) *keeper {
	return &keeper{s: s, wake: make(chan struct{}, 1), quit: make(chan struct{})}
}

func (k *keeper) signal() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *keeper) stop() { close(k.quit) }

func (k *keeper) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	k.sweep()
	for {
		select {
		case <-k.quit:
			return
		case <-k.wake:
		case <-timer.C:
		}
		due, next := k.due(time.Now())
		for _, t := range due {
			k.save(t) // an error leaves it lagging
			select {
			case <-k.quit:
				return
			default:
			}
		}
		if next > 0 {
			timer.Reset(next)
		}
	}
}

// due returns the threads whose meta.json is to be written now, and when to look
// again, 0 if nothing lags.
func (k *keeper) due(now time.Time) (due []*thread, next time.Duration) {
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	for t := range k.s.dirty {
		wait := min(t.changed.Add(quiet).Sub(now), t.since.Add(long).Sub(now))
		if wait <= 0 || t.urgent() {
			due = append(due, t)
		}
		if wait = max(wait, pause); next == 0 || wait < next {
			next = wait
		}
	}
	return due, next
}

// urgent reports whether meta.json says something that people would act on and
// that is no longer so.
func (t *thread) urgent() bool { return t.row.Status != t.saved || t.row.Title != t.title }

// lag notes that a thread's row has changed. The caller holds s.mu.
func (s *Store) lag(t *thread, now time.Time) {
	t.changed = now
	if !s.dirty[t] {
		s.dirty[t] = true
		t.since = now
		s.keeper.signal()
	} else if t.urgent() {
		s.keeper.signal()
	}
}

// save writes a thread's meta.json.
func (k *keeper) save(t *thread) error {
	t.files.Lock()
	defer t.files.Unlock()
	k.s.mu.Lock()
	removed := t.removed
	m := newMeta(t.row, t.from, t.end)
	delete(k.s.dirty, t)
	k.s.mu.Unlock()
	if removed {
		return nil
	}
	err := m.write(k.s.threadDir(t.id))
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	if err != nil {
		if !t.removed {
			k.s.dirty[t] = true
			t.since, t.changed = time.Now(), time.Now()
		}
		return fmt.Errorf("meta.json of %s: %w", t.id, err)
	}
	t.saved, t.title = m.Status, m.Title
	return nil
}

// flush writes every meta.json that lags, when nobody appends any more.
func (k *keeper) flush() error {
	var all []*thread
	for t := range k.s.dirty {
		all = append(all, t)
	}
	errs := make([]error, len(all))
	abreast(len(all), func(i int) { errs[i] = k.save(all[i]) })
	return errors.Join(errs...)
}

// sweep deletes what was removed. What it cannot delete is swept after the next
// open.
func (k *keeper) sweep() {
	threads := filepath.Join(k.s.dir, threadsDir)
	names, _ := os.ReadDir(threads)
	for _, n := range names {
		if strings.HasPrefix(n.Name(), removedName) {
			os.RemoveAll(filepath.Join(threads, n.Name()))
		}
	}
}
