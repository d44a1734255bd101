package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Packs are the names of the packs in dir.
func Packs(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "packs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if isPack(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// isPack reports whether a name is one that a pack could have, and no path.
func isPack(name string) bool {
	return strings.HasSuffix(name, ".pack") && filepath.Base(name) == name && name != ".pack"
}

// Pack is the content of a pack, for another store.
func (s *Store) Pack(name string) ([]byte, error) {
	if !isPack(name) {
		return nil, fmt.Errorf("pack %q: %w", name, ErrMissing)
	}
	return os.ReadFile(filepath.Join(s.packDir(), name))
}

// AddPack takes in a pack of another store. It is there at one instant, if its
// table is sound; it is not synced, because that store has it.
func (s *Store) AddPack(name string, from io.Reader) error {
	if !isPack(name) {
		return fmt.Errorf("pack %q: %w", name, ErrDamaged)
	}
	f, err := os.CreateTemp(s.tempDir(), name)
	if err != nil {
		return Full(err)
	}
	_, err = io.Copy(f, from)
	if err == nil {
		_, err = readPack(f, name)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.packDir(), name))
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("pack %s: %w", name, Full(err))
	}
	return nil
}

// CheckPack reads every piece of a pack and compares it with its name.
func CheckPack(content []byte) error {
	p, err := readTable(inMemory{bytes.NewReader(content)}, int64(len(content)), "in memory")
	if err != nil {
		return err
	}
	c := newCodec(1)
	for i := range p.count() {
		r := p.row(i)
		stored, err := p.stored(r)
		if err != nil {
			return err
		}
		if data, err := c.unpack(stored, int(r.size)); err != nil || Sum(data) != r.id {
			return fmt.Errorf("piece %s: %w", r.id, ErrDamaged)
		}
	}
	return nil
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// Drop removes packs. It takes the store for itself, as [Collect] does; before,
// under that claim, it calls first.
func Drop(ctx context.Context, dir string, names []string, first func()) error {
	s, err := open(ctx, dir, nil, true)
	if err != nil {
		return err
	}
	defer s.Close()
	first()
	for _, name := range names {
		if !isPack(name) {
			continue
		}
		if gone := os.Remove(filepath.Join(s.packDir(), name)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
