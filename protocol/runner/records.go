package runner

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"harness"
	"harness/internal/whole"
)

// record says which state of the files a run began with.
type record struct {
	Session   harness.SessionID `json:"session"`
	Directory string            `json:"directory"`
	Mark      string            `json:"mark,omitempty"`
	Problem   string            `json:"problem,omitempty"` // why it cannot be told
	Messages  []harness.ItemID  `json:"messages,omitempty"`
	Saved     time.Time         `json:"saved"`
}

func (r *record) has(m harness.ItemID) bool { return slices.Contains(r.Messages, m) }

// maxRecords is how many runs are remembered: the marks themselves go before
// them, when their room is needed.
const maxRecords = 1000

// records are the runs whose files were kept, the latest of them: files in a
// directory, so that another runner finds them.
type records struct {
	dir string     // "" keeps nothing
	mu  sync.Mutex // held while files are written: one at a time
}

const recordSuffix = ".json"

// save makes a record durable and drops the oldest if there are too many.
func (r *records) save(run string, rec record) error {
	if r.dir == "" {
		return nil
	}
	rec.Saved = time.Now().UTC()
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := whole.Write(root, run+recordSuffix, text); err != nil {
		return err
	}
	return r.thin(root)
}

func (r *records) thin(root *os.Root) error {
	names, err := r.names()
	for _, name := range names[:max(0, len(names)-maxRecords)] {
		err = errors.Join(err, root.Remove(name))
	}
	return err
}

// names are the files, the oldest first.
func (r *records) names() ([]string, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, err
	}
	type file struct {
		name string
		at   time.Time
	}
	var files []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), recordSuffix) && !strings.HasPrefix(e.Name(), whole.Part) {
			files = append(files, file{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name)) })
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.name
	}
	return names, nil
}

// find is the record of a run.
func (r *records) find(run string) (record, error) {
	if err := harness.CheckID("requestId", run); err != nil {
		return record{}, err
	}
	rec, err := r.read(run + recordSuffix)
	if err != nil {
		return record{}, fmt.Errorf("run %q is not remembered: %w", run, harness.ErrTurnNotFound)
	}
	return r.settle(rec, run+recordSuffix)
}

// search is the record of the latest run in which a message was.
func (r *records) search(m harness.ItemID) (record, error) {
	names, err := r.names()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return record{}, err
	}
	for _, name := range slices.Backward(names) {
		if rec, err := r.read(name); err == nil && rec.has(m) {
			return r.settle(rec, name)
		}
	}
	return record{}, fmt.Errorf("message %q is not remembered: %w", m, harness.ErrTurnNotFound)
}

// settle says of a run that changed nothing what the next one says that did: its
// mark, or nothing if none did.
func (r *records) settle(rec record, name string) (record, error) {
	if rec.Mark != "" || rec.Problem != "" {
		return rec, nil
	}
	names, err := r.names()
	if err != nil {
		return rec, err
	}
	for _, later := range names[slices.Index(names, name)+1:] {
		if next, err := r.read(later); err == nil && next.Session == rec.Session && next.Directory == rec.Directory && next.Mark+next.Problem != "" {
			rec.Mark, rec.Problem = next.Mark, next.Problem
			break
		}
	}
	return rec, nil
}

func (r *records) read(name string) (rec record, err error) {
	if r.dir == "" {
		return rec, fs.ErrNotExist
	}
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err == nil {
		err = json.Unmarshal(text, &rec)
	}
	return rec, err
}
