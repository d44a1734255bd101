package workspace

import (
	"errors"
	"io/fs"
	"time"

	"harness/workspace/folder"
	"harness/workspace/ignore"
)

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
