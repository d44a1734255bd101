package object

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Collected says what a Collect did.
type Collected struct {
	Pieces  int   // pieces removed
	Freed   int64 // bytes fewer on disk
	Packs   int   // packs afterwards
	Rewrote int   // packs written again without their waste
}

const (
	wasteShare = 4       // a pack is rewritten when more than a 4th of it is waste
	smallPack  = 4 << 20 // packs below this are merged …
	smallCount = 16      // … when there are more than this many
)

// Collect removes the pieces that mark does not name. It takes the store for
// itself and so waits for writers, at most until ctx ends; mark runs under that
// claim and calls keep for every piece to keep, with the store to read from.
// What it writes is durable before anything is removed, so a crash leaves at
// worst a piece twice.
func Collect(ctx context.Context, dir string, opts *Options, mark func(s *Store, keep func(ID) bool) error) (Collected, error) {
	o := Options{}
	if opts != nil {
		o.Workers = opts.Workers // room is made here, not asked for
	}
	s, err := open(ctx, dir, &o, true)
	if err != nil {
		return Collected{}, err
	}
	defer s.Close()
	if err := s.emptyTemp(); err != nil {
		return Collected{}, err
	}
	packs, err := s.all(false)
	if err != nil {
		return Collected{}, err
	}
	live := map[ID]struct{}{}
	keep := func(id ID) bool {
		_, seen := live[id]
		live[id] = struct{}{}
		return !seen
	}
	if err := mark(s, keep); err != nil {
		return Collected{}, err
	}
	return s.sweep(ctx, packs, live)
}

func (s *Store) sweep(ctx context.Context, packs []*pack, live map[ID]struct{}) (c Collected, err error) {
	small := 0
	for _, p := range packs {
		if p.size < smallPack {
			small++
		}
	}
	w := &Writer{store: s, has: map[ID]struct{}{}, budget: -1}
	defer w.Abort()
	var gone []*pack
	placed := map[ID]struct{}{} // a piece that two packs have is kept once
	for i := len(packs) - 1; i >= 0; i-- {
		p := packs[i]
		var rows []row
		used := int64(0)
		for j := range p.count() {
			r := p.row(j)
			_, wanted := live[r.id]
			_, twice := placed[r.id]
			if wanted && !twice {
				rows, used = append(rows, r), used+int64(r.packed)
			}
		}
		merge := p.size < smallPack && small > smallCount
		if body := p.size - int64(len(p.rows)+footSize+len(magic)); len(rows) > 0 && !merge && (body-used)*wasteShare <= body {
			for _, r := range rows {
				placed[r.id] = struct{}{}
			}
			continue
		}
		c.Pieces += p.count() - len(rows)
		c.Freed += p.size
		if len(rows) == 0 { // room for what is written below
			if err := os.Remove(filepath.Join(s.packDir(), p.name)); err != nil {
				return c, err
			}
			continue
		}
		c.Rewrote++
		gone = append(gone, p)
		for _, r := range rows {
			if err := ctx.Err(); err != nil {
				return c, context.Cause(ctx)
			}
			stored, err := p.stored(r)
			if err != nil {
				return c, err
			}
			w.add(r.id, stored, int(r.size))
			placed[r.id] = struct{}{}
		}
	}
	c.Freed -= w.written
	if err := w.Commit(); err != nil {
		return c, err
	}
	for _, p := range gone {
		if err := os.Remove(filepath.Join(s.packDir(), p.name)); err != nil {
			return c, err
		}
	}
	entries, err := os.ReadDir(s.packDir())
	c.Packs = len(entries)
	return c, errors.Join(err, SyncDir(s.packDir()))
}

// emptyTemp removes what killed writers left. The store must be held alone.
func (s *Store) emptyTemp() error {
	entries, err := os.ReadDir(s.tempDir())
	for _, e := range entries {
		err = errors.Join(err, os.Remove(filepath.Join(s.tempDir(), e.Name())))
	}
	return err
}
