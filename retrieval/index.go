// Package retrieval finds passages of a workspace's files by words: local_search.
//
// An Index keeps an inverted index of chunks of lines in memory. Refresh brings
// it up to date, reading only files whose size or time changed; what it holds
// then is what a new index of the same tree would hold, and ranks the same.
// Search works at any time and sees one state: that before a Refresh or that
// after it. It returns only text that is still what was indexed.
//
// Files that .gitignore files exclude are left out, and so are binary ones. What
// the bounds leave out is counted in the Report. A file that changes and keeps
// its size and its time is not noticed.
package retrieval

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Index is an index of one tree. It serves any number of callers at once.
type Index struct {
	root fs.FS
	opts Options
	seed maphash.Seed

	turn chan struct{} // holds a token while nobody refreshes
	now  atomic.Pointer[snapshot]
}

// Report says what an index holds and what it left out.
type Report struct {
	Files  int   `json:"files"` // that can be found
	Chunks int   `json:"chunks"`
	Bytes  int64 `json:"bytes"` // of these files

	Skipped Skipped `json:"skipped"`
	// Pending files are known and were not read: time was up.
	Pending int `json:"pending,omitempty"`

	Read    int           `json:"read"`    // files that this Refresh read
	Removed int           `json:"removed"` // files that it took out
	Took    time.Duration `json:"took"`
}

// Skipped counts files, and directories where it says so, that cannot be found.
type Skipped struct {
	Ignored    int `json:"ignored,omitempty"` // by rules; a directory counts once
	Binary     int `json:"binary,omitempty"`
	Large      int `json:"large,omitempty"`
	Unreadable int `json:"unreadable,omitempty"` // directories, too
	Limit      int `json:"limit,omitempty"`      // beyond MaxFiles or MaxBytes
}

// Open returns an index of the tree, with nothing in it before the first Refresh.
func Open(root fs.FS, opts *Options) *Index {
	x := &Index{root: root, opts: opts.orDefaults(), seed: maphash.MakeSeed(), turn: make(chan struct{}, 1)}
	x.turn <- struct{}{}
	x.now.Store(&snapshot{files: map[string]entry{}})
	return x
}

// Report is that of the last Refresh.
func (x *Index) Report() Report { return x.now.Load().report }

var errTime = errors.New("time is up")

// Refresh brings the index up to date. If ctx ends, nothing changes; if MaxTime
// passes, what was read until then counts and the Report says what is pending.
func (x *Index) Refresh(ctx context.Context) (Report, error) {
	select {
	case <-x.turn:
		defer func() { x.turn <- struct{}{} }()
	case <-ctx.Done():
		return Report{}, context.Cause(ctx)
	}
	began := time.Now()
	w := walk{root: x.root, opts: &x.opts}
	if err := w.dir(ctx, "", 0, nil); err != nil {
		return Report{}, err
	}
	old := x.now.Load()
	next := &snapshot{files: make(map[string]entry, len(w.files)), report: Report{Skipped: w.skipped}}
	var changed []found
	for _, f := range w.files {
		if e, ok := old.files[f.path]; ok && e.size == f.size && e.time.Equal(f.time) && !e.young {
			next.files[f.path] = e
			continue
		}
		changed = append(changed, f)
	}
	if err := x.read(ctx, began.Add(x.opts.MaxTime), changed, old, next); err != nil {
		return Report{}, err
	}
	next.settle(old)
	next.report.Took = time.Since(began)
	x.now.Store(next)
	return next.report, nil
}

// batch is a segment's worth of files, and what came of them.
type batch struct {
	files   []found
	entries []entry
	pending int
	skipped Skipped
	read    int
}

// read reads the changed files, on all cores, and adds them to next.
func (x *Index) read(ctx context.Context, until time.Time, changed []found, old, next *snapshot) error {
	ctx, cancel := context.WithDeadlineCause(ctx, until, errTime)
	defer cancel()
	var batches []*batch
	var size int64
	for _, f := range changed {
		if len(batches) == 0 || size > batchBytes {
			batches, size = append(batches, &batch{}), 0
		}
		b := batches[len(batches)-1]
		b.files, size = append(b.files, f), size+f.size
	}
	var wg sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, b := range batches {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			x.build(ctx, b, old)
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil && err != errTime {
		return err
	}
	for _, b := range batches {
		for i, e := range b.entries {
			next.files[b.files[i].path] = e
		}
		next.report.Read += b.read
		next.report.Pending += b.pending
		next.report.Skipped.Unreadable += b.skipped.Unreadable
	}
	return nil
}

// build makes a segment of a batch, up to where time is up.
func (x *Index) build(ctx context.Context, b *batch, old *snapshot) {
	made := newBuilder(x.seed)
	kept := b.files[:0]
	for i, f := range b.files {
		if ctx.Err() != nil {
			b.pending = len(b.files) - i
			break
		}
		b.read++
		text, err := x.text(f.path)
		if err != nil {
			b.skipped.Unreadable++
			continue
		}
		e := entry{size: f.size, time: f.time, sum: maphash.Bytes(x.seed, text), young: time.Since(f.time) < fresh}
		if was, ok := old.files[f.path]; ok && was.sum == e.sum && was.size == e.size {
			e.in, e.file = was.in, was.file // only its time is new
		} else if len(text) > 0 && !isBinary(text) {
			made.add(f.path, text)
			e.in, e.file = made.out, len(made.out.files)-1
		}
		kept, b.entries = append(kept, f), append(b.entries, e)
	}
	b.files = kept
	made.finish()
}

// text reads a file, if it is not larger than it was.
func (x *Index) text(name string) ([]byte, error) {
	f, err := x.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, x.opts.MaxFileBytes+1))
	if err == nil && int64(len(text)) > x.opts.MaxFileBytes {
		err = fs.ErrInvalid
	}
	return text, err
}
