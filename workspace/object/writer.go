package object

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Writer adds pieces to a Store. They are there for others, all of them, when
// Commit has returned; a writer that is not committed leaves nothing. It may be
// used by many goroutines.
type Writer struct {
	store *Store

	mu      sync.Mutex // guards the rest
	err     error
	has     map[ID]struct{} // what this writer wrote
	done    []*draft
	current *draft
	budget  int64 // bytes that may still be written; negative: no bound
	written int64
}

// draft is a pack that is being written.
type draft struct {
	file *os.File
	buf  *bufio.Writer
	name string
	at   int64
	rows []row
}

// Writer returns a writer. It may add what the store and the disk have room for.
func (s *Store) Writer() (*Writer, error) {
	w := &Writer{store: s, has: map[ID]struct{}{}, budget: -1}
	if s.opts.MaxDisk > 0 {
		used, err := Size(s.dir)
		if err != nil {
			return nil, err
		}
		w.budget = max(s.opts.MaxDisk-used, 0)
	}
	if s.opts.MinFree > 0 {
		free, err := freeBytes(s.dir)
		if err != nil {
			return nil, err
		}
		if free -= s.opts.MinFree; w.budget < 0 || free < w.budget {
			w.budget = max(free, 0)
		}
	}
	return w, nil
}

// Put adds data and returns its name. Data the store has already costs nothing
// but its hash. scratch is space to pack in; the next call finds it grown.
func (w *Writer) Put(data []byte, scratch *[]byte) (ID, error) {
	id := Sum(data)
	known, err := w.known(id)
	if err != nil || known {
		return id, err
	}
	stored := w.store.codec.pack(data, *scratch)
	if len(stored) < len(data) {
		*scratch = stored
	}
	w.add(id, stored, len(data))
	return id, w.failed()
}

func (w *Writer) known(id ID) (bool, error) {
	w.mu.Lock()
	_, ok := w.has[id]
	w.mu.Unlock()
	if ok {
		return true, nil
	}
	return w.store.Has(id)
}

// add appends a piece in its stored form, unless a rival did so meanwhile.
func (w *Writer) add(id ID, stored []byte, size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.has[id]; ok || w.err != nil {
		return
	}
	if size >= maxPiece {
		w.err = fmt.Errorf("a piece of %d bytes: %w", size, ErrFull)
		return
	}
	if w.written += int64(len(stored)); w.budget >= 0 && w.written > w.budget {
		w.err = ErrFull
		return
	}
	if w.current == nil {
		if w.current, w.err = w.store.draft(); w.err != nil {
			w.err = Full(w.err)
			return
		}
	}
	d := w.current
	if _, err := d.buf.Write(stored); err != nil {
		w.err = Full(err)
		return
	}
	d.rows = append(d.rows, row{id, d.at, uint32(len(stored)), uint32(size)})
	d.at += int64(len(stored))
	w.has[id] = struct{}{}
	if d.at >= packLimit {
		w.err = Full(d.finish())
		w.done, w.current = append(w.done, d), nil
	}
}

func (w *Writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Commit makes everything that was put durable and visible. After an error
// nothing of it may be relied on, and nothing of it is left.
func (w *Writer) Commit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil {
		if err := w.current.finish(); w.err == nil {
			w.err = Full(err)
		}
		w.done, w.current = append(w.done, w.current), nil
	}
	if w.err != nil {
		w.discard()
		return w.err
	}
	if len(w.done) == 0 {
		return nil
	}
	for _, d := range w.done {
		if err := os.Rename(d.file.Name(), filepath.Join(w.store.packDir(), d.name)); err != nil {
			w.err = Full(err)
			return w.err
		}
	}
	w.done = nil
	if err := SyncDir(w.store.packDir()); err != nil {
		return err
	}
	_, err := w.store.all(true)
	return err
}

// Abort leaves nothing of what was put since the last Commit.
func (w *Writer) Abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.discard()
	w.err = errors.New("writer was aborted")
}

func (w *Writer) discard() {
	if w.current != nil {
		w.current.file.Close()
		w.done, w.current = append(w.done, w.current), nil
	}
	for _, d := range w.done {
		os.Remove(d.file.Name())
	}
	w.done = nil
}

func (s *Store) draft() (*draft, error) {
	name := rand.Text() + ".pack"
	f, err := os.OpenFile(filepath.Join(s.tempDir(), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	d := &draft{file: f, buf: bufio.NewWriterSize(f, 256<<10), name: name, at: int64(len(magic))}
	_, err = d.buf.WriteString(magic)
	return d, err
}

// finish writes the table and syncs; the draft is then a pack in all but place.
func (d *draft) finish() error {
	_, err := d.buf.Write(table(d.rows, d.at))
	err = errors.Join(err, d.buf.Flush())
	if err == nil {
		err = d.file.Sync()
	}
	return errors.Join(err, d.file.Close())
}

// SyncDir makes the names in dir durable.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
