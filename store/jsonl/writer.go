package jsonl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"harness"
	"harness/internal/batch"
)

// writer is the one goroutine that writes logs. Only it calls its methods.
type writer struct {
	s      *Store
	logs   *logs
	batch  map[harness.SessionID]*change
	queued []*change // the same, in order

	// What reaches the disk goes through these two, so that a test can be the
	// disk that fails.
	write func(f *os.File, data []byte, at int64) error
	flush func(f *os.File) error
}

// change is what a group adds to one thread.
type change struct {
	t     *thread
	made  bool  // the thread is new
	was   int64 // where the log ended
	data  []byte
	head  harness.Seq
	row   harness.Summary
	rules []harness.Rule
	tasks []*task
	file  *os.File
	err   error
}

func newWriter(s *Store, openFiles int) *writer {
	write := func(f *os.File, data []byte, at int64) error {
		_, err := f.WriteAt(data, at)
		return err
	}
	return &writer{s: s, logs: newLogs(openFiles), batch: map[harness.SessionID]*change{}, write: write, flush: flush}
}

// run serves q until it is closed and empty.
func (w *writer) run(q *batch.Queue[work]) {
	defer w.logs.close()
	var group []*task
	for {
		var closed bool
		group, closed = q.Take(group)
		switch {
		case len(group) > 0:
			for _, t := range group {
				t.Work(w, t)
			}
			w.commit()
			clear(group)
		case closed:
			return
		default:
			q.Await()
		}
	}
}

// commit makes the batch durable and answers everybody in it.
func (w *writer) commit() {
	if len(w.queued) == 0 {
		return
	}
	w.create()
	w.keepRules()
	for rest := w.queued; len(rest) > 0; {
		n := min(len(rest), w.logs.max)
		w.store(rest[:n])
		rest = rest[n:]
	}
	w.publish()
	for _, ch := range w.queued {
		for _, t := range ch.tasks {
			t.Answer(ch.err)
		}
	}
	clear(w.batch)
	clear(w.queued)
	w.queued = w.queued[:0]
}

// store writes all lines of the changes, then flushes every file once.
func (w *writer) store(changes []*change) {
	var written []*change
	for _, ch := range changes {
		if ch.err != nil {
			continue
		}
		if ch.file, ch.err = w.logs.open(ch.t, filepath.Join(w.s.threadDir(ch.t.id), logFile)); ch.err == nil {
			ch.err = w.write(ch.file, ch.data, ch.was)
		}
		if ch.err != nil {
			w.undo(ch, false)
			continue
		}
		written = append(written, ch)
	}
	abreast(len(written), func(i int) { written[i].err = w.flush(written[i].file) })
	for _, ch := range written {
		if ch.err != nil {
			w.undo(ch, true)
		}
	}
}

// undo takes back what a failed change may have written. The thread goes on if
// the log is known to be what it was. After a failed flush nothing is known: the
// kernel may have dropped the pages and would say yes the second time.
func (w *writer) undo(ch *change, flushing bool) {
	ch.err = fmt.Errorf("%w: %w", ch.err, harness.ErrStorage)
	if ch.file == nil {
		return
	}
	err := ch.file.Truncate(ch.was)
	if err == nil && !flushing {
		return
	}
	w.logs.drop(ch.t)
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	ch.t.failed = fmt.Errorf("writing stopped after an error, open the store again: %w", errors.Join(ch.err, err))
}

// publish shows what has become durable.
func (w *writer) publish() {
	now := time.Now()
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, ch := range w.queued {
		t := ch.t
		if ch.err != nil {
			if ch.made {
				delete(w.s.threads, t.id)
				w.logs.drop(t)
			}
			continue
		}
		if !ch.made {
			w.s.order.remove(keyOf(t.row))
		}
		t.there, t.stale, t.row = true, false, ch.row
		t.end = place{ch.was + int64(len(ch.data)), ch.head}
		w.s.order.insert(keyOf(t.row))
		w.s.lag(t, now)
	}
}
