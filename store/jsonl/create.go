package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"harness"
)

// begin begins a thread that is not there.
func (w *writer) begin(c harness.Commit) (*change, error) {
	switch {
	case c.From != nil:
		if _, pending := w.batch[c.From.Session]; pending {
			w.commit() // a branch's parent is durable before the branch is
		}
		_, parent, err := w.s.find(c.From.Session)
		if err != nil {
			return nil, fmt.Errorf("parent %s: %w", c.From.Session, err)
		}
		if parent.end.seq < c.From.Seq {
			return nil, fmt.Errorf("parent %s ends at %d: %w", c.From.Session, parent.end.seq, harness.ErrInvalid)
		}
	case c.After != 0:
		return nil, harness.ErrConflict
	}
	t := newThread(c.Session)
	close(t.ready)
	if c.From != nil {
		t.from = new(*c.From)
	}
	for {
		w.s.mu.Lock()
		other, taken := w.s.threads[t.id] // a reader that is finding out that it is not there
		if !taken {
			w.s.threads[t.id] = t
		}
		w.s.mu.Unlock()
		if !taken {
			return &change{t: t, made: true}, nil
		}
		<-other.ready
	}
}

// create makes the directories of the batch's new threads, durably and before
// any line: meta.json has to say where a branch came from when its first line
// can be found. A thread whose log is empty does not exist.
func (w *writer) create() {
	var made []*change
	for _, ch := range w.queued {
		if ch.made {
			made = append(made, ch)
		}
	}
	if len(made) == 0 {
		return
	}
	abreast(len(made), func(i int) { made[i].err = w.directory(made[i]) })
	err := syncDir(filepath.Join(w.s.dir, threadsDir))
	for _, ch := range made {
		if ch.err = errors.Join(ch.err, err); ch.err != nil {
			ch.err = fmt.Errorf("%w: %w", ch.err, harness.ErrStorage)
		}
	}
}

// directory makes the directory of a new thread, without anything that an
// earlier attempt left.
func (w *writer) directory(ch *change) error {
	dir := w.s.threadDir(ch.t.id)
	path := filepath.Join(dir, logFile)
	base := place{}
	if ch.t.from != nil {
		base.seq = ch.t.from.Seq
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, snapshotsDir)); err != nil {
		return err
	}
	if err := newMeta(ch.row, ch.t.from, base).write(dir); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = errors.Join(f.Close(), syncDir(dir))
	}
	return err
}
