package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"harness/workspace/folder"
	"harness/workspace/ignore"
	"harness/workspace/object"
)

// scanner reads a tree once. It keeps content that the index does not vouch for
// in a writer and counts what it skips.
type scanner struct {
	store    *object.Store
	writer   *object.Writer
	bounds   Bounds
	deadline time.Time
	device   uint64
	own      folder.Stat // the directory of our own data

	spaces chan *space // one per worker that may still be started

	files atomic.Int64
	bytes atomic.Int64
	dirty atomic.Bool // the index would differ

	mu      sync.Mutex // guards skips
	skips   []Skip
	skipped [reasons]int
}

// space is a worker's memory.
type space struct {
	names   []byte
	content []byte
	packed  []byte
}

const (
	nameSpace = 8 << 10  // of one call for names
	fileSpace = 64 << 10 // to begin with
	maxSkips  = 1000     // skips a mark lists; it counts all of them
)

// errMany says that one directory alone has more names than a snapshot may.
var errMany = fmt.Errorf("%w: too many names in one directory", ErrRefused)

// place is a directory on the way: where it is, what was there before.
type place struct {
	path    string
	before  *dir          // in the index
	mark    object.ID     // in the mark that a rewind goes back to, or zero
	rules   *ignore.Rules // that hold in it
	ignored bool          // only what was kept before is kept
}

// scan reads the directory f and everything below.
func (s *scanner) scan(ctx context.Context, f *folder.Folder, at place) (*dir, error) {
	sp := <-s.spaces
	defer func() { s.spaces <- sp }()
	return s.dir(ctx, sp, f, at)
}

func (s *scanner) dir(ctx context.Context, sp *space, f *folder.Folder, at place) (*dir, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	began := time.Now()
	names, err := f.Names(sp.names, s.bounds.Files)
	if err != nil {
		return nil, err
	}
	if len(names) > s.bounds.Files {
		return nil, errMany
	}
	slices.Sort(names)
	marked, err := s.marked(at)
	if err != nil {
		return nil, err
	}
	rules, err := s.rules(f, at, names)
	if err != nil {
		return nil, err
	}
	d := &dir{nodes: make([]node, 0, len(names))}
	var dirs []int
	for _, name := range names {
		n := node{Entry: Entry{Name: name}}
		keep, err := s.name(sp, f, at, rules, marked, began, &n)
		if err != nil {
			return nil, err
		}
		if !keep {
			continue
		}
		if n.Kind == Dir {
			dirs = append(dirs, len(d.nodes))
		}
		d.nodes = append(d.nodes, n)
	}
	if err := s.below(ctx, sp, f, at, rules, marked, d, dirs); err != nil {
		return nil, err
	}
	return d, s.seal(sp, at.before, d)
}

// below scans the directories of d, in other goroutines while there are spaces.
func (s *scanner) below(ctx context.Context, sp *space, f *folder.Folder, at place, rules *ignore.Rules, marked []Entry, d *dir, dirs []int) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	errs := make([]error, len(dirs))
	for k, i := range dirs {
		n := &d.nodes[i]
		next := place{path: join(at.path, n.Name), rules: rules, ignored: at.ignored || rules.Match(at.path, n.Name, true)}
		if old := at.before.child(n.Name); old != nil {
			next.before = old.sub
		}
		if e := entryOf(marked, n.Name); e != nil && e.Kind == Dir {
			next.mark = e.ID
		} else if marked == nil && next.before != nil && at.mark != (object.ID{}) {
			next.mark = next.before.id // the mark and the index agree here
		}
		work := func(sp *space) { errs[k] = s.into(ctx, sp, f, at.path, n, next) }
		select {
		case other := <-s.spaces:
			wg.Go(func() {
				defer func() { s.spaces <- other }()
				work(other)
			})
		default:
			if work(sp); errs[k] != nil {
				return errs[k]
			}
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// into scans one directory, or notes why it cannot.
func (s *scanner) into(ctx context.Context, sp *space, f *folder.Folder, above string, n *node, next place) error {
	switch {
	case time.Now().After(s.deadline):
		s.skip(above, n, Late)
		return nil
	case s.files.Load() > int64(s.bounds.Files), depth(next.path) > maxDepth:
		s.skip(above, n, Many)
		return nil
	}
	sub, err := f.Open(n.Name)
	if err != nil { // refused, or no longer a directory
		s.skip(above, n, Unreadable)
		return nil
	}
	defer sub.Close()
	n.sub, err = s.dir(ctx, sp, sub, next)
	if errors.Is(err, errMany) {
		s.skip(above, n, Many)
		return nil
	}
	if err != nil {
		return err
	}
	n.ID = n.sub.id
	return nil
}

// seal gives d its id and stores it, unless it is what the index has.
func (s *scanner) seal(sp *space, before, d *dir) (err error) {
	if before != nil && slices.EqualFunc(before.nodes, d.nodes, func(a, b node) bool { return a.Entry == b.Entry }) {
		d.id = before.id
		return nil
	}
	s.dirty.Store(true)
	sp.content = encodeEntries(sp.content[:0], len(d.nodes), func(i int) *Entry { return &d.nodes[i].Entry })
	d.id, err = s.writer.Put(sp.content, &sp.packed)
	sp.content = sp.content[:cap(sp.content)]
	return err
}

func (s *scanner) large(dir string, n *node, st *folder.Stat) {
	s.skip(dir, n, Large)
	n.Size, n.Entry.Mtime = st.Size, st.Mtime
}

// skip makes n an entry that says why there is nothing.
func (s *scanner) skip(dir string, n *node, why Reason) {
	*n = node{Entry: Entry{Name: n.Name, Kind: Skipped, Reason: why}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.skipped[why]++; len(s.skips) < maxSkips && why != Git {
		s.skips = append(s.skips, Skip{join(dir, n.Name), why})
	}
}
