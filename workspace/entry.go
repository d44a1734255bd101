package workspace

import (
	"encoding/binary"
	"fmt"
	"strings"

	"harness/workspace/folder"
	"harness/workspace/object"
)

// Kind is what a snapshot knows about a name.
type Kind uint8

const (
	File Kind = iota + 1
	Link
	Dir
	Skipped // the name was there, its content was not kept
)

// Reason says why something was not kept, or not taken back.
type Reason uint8

const (
	Git        Reason = iota + 1 // a .git, directory or file: the repository's own affair
	Own                          // ours: the server's data, or the rest of a rewind
	Ignored                      // by a .gitignore
	Special                      // a socket, a named pipe, a device
	Mount                        // another file system
	Large                        // over Bounds.FileBytes
	Unreadable                   // the system refused
	Many                         // over Bounds.Files
	Bytes                        // over Bounds.Bytes
	Late                         // over Bounds.Time
	reasons
)

var reasonNames = [reasons]string{Git: "git", Own: "own", Ignored: "ignored", Special: "special", Mount: "mount", Large: "too_large",
	Unreadable: "unreadable", Many: "too_many_files", Bytes: "too_many_bytes", Late: "too_late"}

func (r Reason) String() string {
	if r < reasons {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Entry is one name of a directory in a snapshot.
type Entry struct {
	Name   string // bytes as they are on disk; not always UTF-8
	Kind   Kind
	Mode   uint32 // of files and directories
	Size   int64
	ID     object.ID // a file's content, a directory's entries
	Target string    // of a link
	Reason Reason    // of what was skipped
	Mtime  int64     // of what was too large: tells whether it changed
}

// ours is how names that a rewind makes for a moment begin.
const ours = ".harness-rewind-"

// private returns why a name is never kept nor written, whatever it is.
func private(name string) (Reason, bool) {
	switch {
	case len(name) == len(".git") && strings.EqualFold(name, ".git"): // also where case does not count
		return Git, true
	case name == ".harness" || strings.HasPrefix(name, ours):
		return Own, true
	}
	return 0, false
}

const (
	entriesVersion = 1
	maxName        = 1 << 10
	maxTarget      = 1 << 14
)

// encodeEntries writes a directory; the entries are sorted by name. Equal
// directories give equal bytes, so equal trees have one id.
func encodeEntries(b []byte, n int, entry func(int) *Entry) []byte {
	b = append(b, entriesVersion)
	b = binary.AppendUvarint(b, uint64(n))
	for i := range n {
		e := entry(i)
		b = append(b, byte(e.Kind))
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
		case Link:
			b = binary.AppendUvarint(b, uint64(len(e.Target)))
			b = append(b, e.Target...)
		case Skipped:
			b = append(b, byte(e.Reason))
			b = binary.AppendUvarint(b, uint64(e.Size))
			b = binary.AppendVarint(b, e.Mtime)
		}
	}
	return b
}

// decodeEntries reads what encodeEntries wrote and refuses everything else: a
// name that is a path or private, a wrong order, a rest.
func decodeEntries(data []byte) ([]Entry, error) {
	r := reader{rest: string(data)}
	if r.byte() != entriesVersion {
		return nil, fmt.Errorf("directory: %w", ErrDamaged)
	}
	n := r.uvarint()
	if r.bad || n > uint64(len(r.rest)) {
		return nil, fmt.Errorf("directory: %w", ErrDamaged)
	}
	entries := make([]Entry, n)
	for i := range entries {
		e := &entries[i]
		e.Kind = Kind(r.byte())
		e.Name = r.text(maxName)
		switch e.Kind {
		case File:
			e.Mode, e.Size, e.ID = r.mode(), r.size(), r.id()
		case Dir:
			e.Mode, e.ID = r.mode(), r.id()
		case Link:
			e.Target = r.text(maxTarget)
		case Skipped:
			e.Reason, e.Size, e.Mtime = Reason(r.byte()), r.size(), r.varint()
			r.bad = r.bad || e.Reason == 0 || e.Reason >= reasons
		default:
			r.bad = true
		}
		_, never := private(e.Name)
		if r.bad || folder.CheckName(e.Name) != nil || never && e.Kind != Skipped || i > 0 && entries[i-1].Name >= e.Name {
			return nil, fmt.Errorf("directory: entry %d: %w", i, ErrDamaged)
		}
	}
	if r.rest != "" {
		return nil, fmt.Errorf("directory: %w", ErrDamaged)
	}
	return entries, nil
}
