package workspace

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"harness/workspace/folder"
	"harness/workspace/object"
)

// dir is a scanned directory: a snapshot's entries and what the system said
// about them. The last one that was saved is the index: what has not changed
// since is not read again.
type dir struct {
	id    object.ID
	nodes []node // sorted by name
}

// node is an entry and how to tell that it is still the same.
type node struct {
	Entry
	mtime, ctime int64
	inode        uint64
	racy         bool // it may change, or have changed, without looking different
	sub          *dir // of a directory
}

// same reports whether st describes what the node was made from. The change
// time tells of an edit that put the modification time back. A racy node is
// never the same: it changed so shortly before it was looked at that the file
// system's clock may not have ticked since.
func (n *node) same(st *folder.Stat) bool {
	return !n.racy && n.looks(st)
}

// looks is same without the distrust.
func (n *node) looks(st *folder.Stat) bool {
	return n.mtime == st.Mtime && n.ctime == st.Ctime && n.inode == st.Inode &&
		(n.Kind == File && st.Kind == folder.File && n.Size == st.Size && n.Mode == st.Mode || n.Kind == Link && st.Kind == folder.Link)
}

// child returns the node of that name.
func (d *dir) child(name string) *node {
	if d == nil {
		return nil
	}
	i := sort.Search(len(d.nodes), func(i int) bool { return d.nodes[i].Name >= name })
	if i < len(d.nodes) && d.nodes[i].Name == name {
		return &d.nodes[i]
	}
	return nil
}

// find returns the node at path.
func (d *dir) find(path string) *node {
	for {
		name, rest, more := strings.Cut(path, "/")
		n := d.child(name)
		if n == nil || !more {
			return n
		}
		d, path = n.sub, rest
	}
}

const indexMagic = "harness index 1\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// loadIndex returns nil if there is none that can be read: it only saves work.
func loadIndex(path string) *dir {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < int64(len(indexMagic)+4) {
		return nil
	}
	var text strings.Builder
	text.Grow(int(info.Size()))
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(io.MultiWriter(&text, sum), io.LimitReader(f, info.Size()-4)); err != nil {
		return nil
	}
	var want [4]byte
	if _, err := io.ReadFull(f, want[:]); err != nil || sum.Sum32() != binary.LittleEndian.Uint32(want[:]) {
		return nil
	}
	r := reader{rest: text.String()}
	if r.take(len(indexMagic)) != indexMagic {
		return nil
	}
	d := readDir(&r, 0)
	if r.bad || r.rest != "" {
		return nil
	}
	return d
}

// maxDepth bounds how deep a tree may be: every directory on the way is open
// while it is scanned.
const maxDepth = 256

func readDir(r *reader, depth int) *dir {
	d := &dir{id: r.id()}
	n := r.uvarint()
	if r.bad || n > uint64(len(r.rest)) || depth > maxDepth {
		r.bad = true
		return nil
	}
	d.nodes = make([]node, n)
	for i := range d.nodes {
		e := &d.nodes[i]
		flags := r.byte()
		e.Kind, e.racy = Kind(flags&0x7f), flags&0x80 != 0
		e.Name = r.text(maxName)
		switch e.Kind {
		case File:
			e.Mode, e.Size, e.ID = r.mode(), r.size(), r.id()
		case Dir:
			e.Mode, e.ID = r.mode(), r.id()
			e.sub = readDir(r, depth+1)
		case Link:
			e.Target = r.text(maxTarget)
		case Skipped:
			e.Reason, e.Size, e.Mtime = Reason(r.byte()), r.size(), r.varint()
		default:
			r.bad = true
		}
		if e.Kind == File || e.Kind == Link {
			e.mtime, e.ctime, e.inode = int64(r.fixed64()), int64(r.fixed64()), r.uvarint()
		}
		if r.bad {
			return nil
		}
	}
	return d
}

// indexWriter writes an index and its checksum, piece by piece.
type indexWriter struct {
	out io.Writer
	sum uint32
	err error
}

func (w *indexWriter) flush(b []byte) []byte {
	if w.err == nil {
		w.sum = crc32.Update(w.sum, castagnoli, b)
		_, w.err = w.out.Write(b)
	}
	return b[:0]
}

func (w *indexWriter) dir(b []byte, d *dir) []byte {
	if len(b) > fileSpace/2 {
		b = w.flush(b)
	}
	b = append(b, d.id[:]...)
	b = binary.AppendUvarint(b, uint64(len(d.nodes)))
	for i := range d.nodes {
		e := &d.nodes[i]
		flags := byte(e.Kind)
		if e.racy {
			flags |= 0x80
		}
		b = append(b, flags)
		b = binary.AppendUvarint(b, uint64(len(e.Name)))
		b = append(b, e.Name...)
		switch e.Kind {
		case File:
			b = binary.AppendUvarint(b, uint64(e.Mode))
			b = binary.AppendUvarint(b, uint64(e.Size))
			b = append(b, e.ID[:]...)
		case Dir:
			b = binary.AppendUvarint(b, uint64(e.Mode))
			b = append(b, e.ID[:]...)
			b = w.dir(b, e.sub)
		case Link:
			b = binary.AppendUvarint(b, uint64(len(e.Target)))
			b = append(b, e.Target...)
		case Skipped:
			b = append(b, byte(e.Reason))
			b = binary.AppendUvarint(b, uint64(e.Size))
			b = binary.AppendVarint(b, e.Mtime)
		}
		if e.Kind == File || e.Kind == Link {
			b = binary.LittleEndian.AppendUint64(b, uint64(e.mtime))
			b = binary.LittleEndian.AppendUint64(b, uint64(e.ctime))
			b = binary.AppendUvarint(b, e.inode)
		}
	}
	return b
}

// saveIndex replaces the index. It is not synced: one that is torn is not read.
func saveIndex(path string, d *dir) error {
	return replaceWith(path, false, func(f io.Writer) error {
		w := &indexWriter{out: f}
		b := make([]byte, 0, fileSpace)
		w.flush(w.dir(append(b, indexMagic...), d))
		if w.err == nil {
			_, w.err = f.Write(binary.LittleEndian.AppendUint32(nil, w.sum))
		}
		return w.err
	})
}

// replace puts data in place of the file at path, at one instant; durable makes
// it survive a loss of power once replace has returned.
func replace(path string, data []byte, durable bool) error {
	return replaceWith(path, durable, func(f io.Writer) error {
		_, err := f.Write(data)
		return err
	})
}

func replaceWith(path string, durable bool, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = write(f)
	if err == nil && durable {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err = object.Full(err); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil && durable {
		err = object.SyncDir(filepath.Dir(path))
	}
	return err
}
