// Package memory keeps what sessions of a directory are to remember: one short
// text a file, which people can read, change and delete.
//
// It guarantees that every memory says where it came from and who accepted it,
// that a file is whole or not there, and that whatever somebody wrote into the
// directory by hand is read or left alone, never an error. It does not decide:
// only what was accepted is saved.
package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"harness"
	"harness/internal/whole"
)

// Bounds of a book: what is remembered is read by a model at every turn that it
// may matter to.
const (
	MaxText     = 4 << 10 // of one memory
	MaxMemories = 500
	maxName     = 64
)

// Memory is something to remember.
type Memory struct {
	Name     string            // a-z, 0-9 and dashes; also the name of its file
	Text     string            // what
	Session  harness.SessionID // that proposed it; empty if a person wrote it
	Event    string            // id of the call that did
	Accepted string            // who accepted it: a user's name, or policy
	Created  time.Time
}

// Book is the memories of a directory. It may be used concurrently, and by
// several processes.
type Book struct {
	root *os.Root
	mu   sync.Mutex // one save at a time, so that the bound holds
}

// Open uses a directory, which it makes if need be.
func Open(dir string) (*Book, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	return &Book{root: root}, nil
}

// Close releases the directory.
func (b *Book) Close() error { return b.root.Close() }

// Check refuses what cannot be saved, in words for whoever proposes it.
func (m Memory) Check() error {
	switch {
	case !validName(m.Name):
		return fmt.Errorf("memory name %q: want 1 to %d of a-z, 0-9 and -: %w", m.Name, maxName, harness.ErrInvalid)
	case strings.TrimSpace(m.Text) == "":
		return fmt.Errorf("memory %s: there is nothing to remember: %w", m.Name, harness.ErrInvalid)
	case len(m.Text) > MaxText:
		return fmt.Errorf("memory %s: %d bytes, more than %d: %w", m.Name, len(m.Text), MaxText, harness.ErrTooLarge)
	case !utf8.ValidString(m.Text):
		return fmt.Errorf("memory %s: not a text: %w", m.Name, harness.ErrInvalid)
	}
	return nil
}

func validName(s string) bool {
	if s == "" || len(s) > maxName || s[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' })
}

// Save keeps a memory that was accepted, in place of the one with its name. It
// is durable when Save returns.
func (b *Book) Save(m Memory) error {
	if err := m.Check(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all, err := b.All()
	if err != nil {
		return err
	}
	if known := slices.ContainsFunc(all, func(o Memory) bool { return o.Name == m.Name }); !known && len(all) >= MaxMemories {
		return fmt.Errorf("memory: there are %d already; remove some: %w", len(all), harness.ErrTooLarge)
	}
	if err := whole.Write(b.root, m.Name+suffix, m.encode()); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

// Remove forgets a memory; one that is not there is [harness.ErrNotFound].
func (b *Book) Remove(name string) error {
	if !validName(name) {
		return fmt.Errorf("memory %q: %w", name, harness.ErrNotFound)
	}
	switch err := b.root.Remove(name + suffix); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("memory %q: %w", name, harness.ErrNotFound)
	case err != nil:
		return fmt.Errorf("memory: %w", err)
	}
	return whole.Sync(b.root, ".")
}

// All is every memory, by name. Files that are none are left out.
func (b *Book) All() ([]Memory, error) {
	names, err := fs.ReadDir(b.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	var all []Memory
	for _, e := range names {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || !validName(name) || len(all) == MaxMemories {
			continue
		}
		if m, ok := b.read(name); ok {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Memory) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// read is the memory in a file, if it is one: small, regular, a text.
func (b *Book) read(name string) (Memory, bool) {
	info, err := b.root.Lstat(name + suffix)
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxText+maxHead {
		return Memory{}, false
	}
	data, err := b.root.ReadFile(name + suffix)
	if err != nil {
		return Memory{}, false // removed meanwhile
	}
	m := decode(name, string(data))
	if m.Created.IsZero() {
		m.Created = info.ModTime().UTC().Truncate(time.Second)
	}
	return m, m.Check() == nil
}
