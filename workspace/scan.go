package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
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
	names, err := f.Names(sp.names)
	if err != nil {
		return nil, err
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

// name finds out what a name is; keep is false if it is gone already.
func (s *scanner) name(sp *space, f *folder.Folder, at place, rules *ignore.Rules, marked []Entry, began time.Time, n *node) (keep bool, err error) {
	if why, never := private(n.Name); never {
		s.skip(at.path, n, why)
		return true, nil
	}
	old := at.before.child(n.Name)
	st, err := f.Stat(n.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		s.skip(at.path, n, Unreadable)
		return true, nil
	}
	known := old != nil && old.Kind != Skipped || kept(marked, n.Name)
	isDir := st.Kind == folder.Dir
	switch {
	case st.Kind == folder.Special:
		s.skip(at.path, n, Special)
	case isDir && st.Inode == s.own.Inode && st.Device == s.own.Device:
		s.skip(at.path, n, Own)
	case isDir && st.Device != s.device:
		s.skip(at.path, n, Mount)
	case !known && (at.ignored || rules.Match(at.path, n.Name, isDir)):
		s.skip(at.path, n, Ignored)
	case len(n.Name) > maxName || s.files.Add(1) > int64(s.bounds.Files):
		s.skip(at.path, n, Many)
	case isDir:
		n.Kind, n.Mode = Dir, st.Mode
	case st.Kind == folder.Link:
		return s.link(f, at, old, began, &st, n)
	case st.Size > s.bounds.FileBytes:
		s.large(at.path, n, &st)
	case s.bytes.Add(st.Size) > s.bounds.Bytes:
		s.skip(at.path, n, Bytes)
	case old != nil && old.Kind == File && old.same(&st):
		*n = *old
	default:
		return s.file(sp, f, at, began, n)
	}
	return true, nil
}

func (s *scanner) link(f *folder.Folder, at place, old *node, began time.Time, st *folder.Stat, n *node) (bool, error) {
	if old != nil && old.Kind == Link && old.same(st) {
		*n = *old
		return true, nil
	}
	s.dirty.Store(true)
	target, err := f.Readlink(n.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || len(target) > maxTarget {
		s.skip(at.path, n, Unreadable)
		return true, nil
	}
	n.Kind, n.Target = Link, target
	n.stamp(st, began)
	return true, nil
}

// fileTries is how often a file that changes while it is read is read again.
// After that it is kept as read, and looked at again by the next snapshot.
const fileTries = 3

func (s *scanner) file(sp *space, f *folder.Folder, at place, began time.Time, n *node) (bool, error) {
	s.dirty.Store(true)
	if time.Now().After(s.deadline) {
		s.skip(at.path, n, Late)
		return true, nil
	}
	if len(sp.content) == 0 {
		sp.content = make([]byte, fileSpace)
	}
	for try := 1; ; try++ {
		got, before, after, err := f.ReadFull(n.Name, sp.content)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			s.skip(at.path, n, Unreadable)
			return true, nil
		case got == len(sp.content) && int64(got) <= s.bounds.FileBytes: // there may be more
			size := min(max(2*int64(got), after.Size+1), s.bounds.FileBytes+1)
			sp.content = make([]byte, size)
			try--
			continue
		case int64(got) > s.bounds.FileBytes:
			s.large(at.path, n, &after)
			return true, nil
		}
		torn := before != after || int64(got) != after.Size
		if torn && try < fileTries {
			continue
		}
		n.Kind, n.Mode, n.Size = File, after.Mode, int64(got)
		if n.ID, err = s.writer.Put(sp.content[:got], &sp.packed); err != nil {
			return false, err
		}
		n.stamp(&after, began)
		n.racy = n.racy || torn
		return true, nil
	}
}

// The file system's clock ticks: two changes within a tick leave one time. What
// changed shorter ago than that when it was looked at is not trusted later.
const (
	fineTick   = 50 * time.Millisecond // kernels tick every 1 to 10 ms
	coarseTick = 2 * time.Second       // FAT; also HFS+, some network file systems
)

// stamp notes how to recognise what was looked at since began.
func (n *node) stamp(st *folder.Stat, began time.Time) {
	n.mtime, n.ctime, n.inode = st.Mtime, st.Ctime, st.Inode
	tick := coarseTick
	if st.Ctime%int64(time.Millisecond) != 0 { // no coarse clock shows such a time
		tick = fineTick
	}
	n.racy = st.Ctime > began.Add(-tick).UnixNano()
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
	if time.Now().After(s.deadline) || depth(next.path) > maxDepth {
		s.skip(above, n, Late)
		return nil
	}
	sub, err := f.Open(n.Name)
	if err != nil { // refused, or no longer a directory
		s.skip(above, n, Unreadable)
		return nil
	}
	defer sub.Close()
	if n.sub, err = s.dir(ctx, sp, sub, next); err != nil {
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

// rules adds those of the directory itself.
func (s *scanner) rules(f *folder.Folder, at place, names []string) (*ignore.Rules, error) {
	rules := at.rules
	if _, ok := slices.BinarySearch(names, ".git"); ok {
		if text := readAt(f, ".git", "info", "exclude"); text != nil {
			rules = rules.Add(at.path, text)
		}
	}
	if _, ok := slices.BinarySearch(names, ".gitignore"); ok {
		if text := readAt(f, ".gitignore"); text != nil {
			rules = rules.Add(at.path, text)
		}
	}
	return rules, nil
}

// readAt returns the beginning of a file of rules, nil if it cannot be read.
func readAt(f *folder.Folder, path ...string) []byte {
	for _, name := range path[:len(path)-1] {
		sub, err := f.Open(name)
		if err != nil {
			return nil
		}
		defer sub.Close()
		f = sub
	}
	file, _, err := f.Read(path[len(path)-1])
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, ignore.MaxText))
	return text
}

// marked returns the entries that a mark has here, nil if the index has the same.
func (s *scanner) marked(at place) ([]Entry, error) {
	if at.mark == (object.ID{}) || at.before != nil && at.before.id == at.mark {
		return nil, nil
	}
	return entriesOf(s.store, at.mark)
}

func kept(entries []Entry, name string) bool {
	e := entryOf(entries, name)
	return e != nil && e.Kind != Skipped
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
