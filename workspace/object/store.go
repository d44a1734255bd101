package object

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Options change what a Store does; the zero value works.
type Options struct {
	Workers int   // how many goroutines pack at a time; 2 if 0
	MaxDisk int64 // bytes of all packs; no bound if 0
	MinFree int64 // bytes the disk must have left; no bound if 0
}

// Store is a directory of packs, held open for one piece of work.
type Store struct {
	dir   string
	opts  Options
	lock  *lock
	codec codec

	mu     sync.Mutex // guards loaded and packs
	loaded bool
	packs  []*pack // newest last
}

// Open opens the store in dir, which it makes if need be, and keeps Collect
// away until Close. It waits for a Collect under way, at most until ctx ends.
func Open(ctx context.Context, dir string, opts *Options) (*Store, error) {
	return open(ctx, dir, opts, false)
}

func open(ctx context.Context, dir string, opts *Options, alone bool) (*Store, error) {
	s := &Store{dir: dir}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Workers <= 0 {
		s.opts.Workers = 2
	}
	for _, d := range []string{s.packDir(), s.tempDir()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	l, err := take(ctx, filepath.Join(dir, "lock"), alone)
	if err != nil {
		return nil, err
	}
	s.lock, s.codec = l, newCodec(s.opts.Workers)
	return s, nil
}

func (s *Store) packDir() string { return filepath.Join(s.dir, "packs") }
func (s *Store) tempDir() string { return filepath.Join(s.dir, "temp") }

// Close lets Collect in.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		p.file.Close()
	}
	s.packs = nil
	return s.lock.release()
}

// Has reports whether a pack has the piece.
func (s *Store) Has(id ID) (bool, error) {
	packs, err := s.all(false)
	if err != nil {
		return false, err
	}
	_, _, ok := find(packs, id)
	return ok, nil
}

// Get returns the piece, checked against its name.
func (s *Store) Get(id ID) ([]byte, error) {
	packs, err := s.all(false)
	if err != nil {
		return nil, err
	}
	p, r, ok := find(packs, id)
	if !ok { // another writer may have added it
		if packs, err = s.all(true); err != nil {
			return nil, err
		}
		if p, r, ok = find(packs, id); !ok {
			return nil, fmt.Errorf("%s: %w", id, ErrMissing)
		}
	}
	stored, err := p.stored(r)
	if err != nil {
		return nil, err
	}
	data, err := s.codec.unpack(stored, int(r.size))
	if err != nil || Sum(data) != id {
		return nil, fmt.Errorf("%s in pack %s: %w", id, p.name, ErrDamaged)
	}
	return data, nil
}

func find(packs []*pack, id ID) (*pack, row, bool) {
	for i := len(packs) - 1; i >= 0; i-- {
		if r, ok := packs[i].find(id); ok {
			return packs[i], r, true
		}
	}
	return nil, row{}, false
}

// all returns the packs; afresh looks for new ones.
func (s *Store) all(afresh bool) ([]*pack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded && !afresh {
		return s.packs, nil
	}
	known := map[string]bool{}
	for _, p := range s.packs {
		known[p.name] = true
	}
	entries, err := os.ReadDir(s.packDir())
	if err != nil {
		return nil, err
	}
	packs := s.packs[:len(s.packs):len(s.packs)]
	for _, e := range entries {
		if known[e.Name()] || !strings.HasSuffix(e.Name(), ".pack") {
			continue
		}
		p, err := openPack(filepath.Join(s.packDir(), e.Name()), e.Name())
		if err != nil {
			return nil, err
		}
		packs = append(packs, p)
	}
	s.packs, s.loaded = packs, true
	return packs, nil
}

// Size returns the bytes of all packs in dir.
func Size(dir string) (int64, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "packs"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	var sum int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum, err
}
