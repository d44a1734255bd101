package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"harness"
)

// Depot is a harness.Depot with bells for the goroutines of one process.
type Depot struct {
	mu      sync.Mutex // guards what follows
	version uint64
	places  map[string]*place
	held    map[string]chan struct{} // closed when it is let go
	bells   map[harness.Topic]map[chan struct{}]bool
}

type place struct {
	version uint64
	files   map[string]harness.Parcel
}

var _ interface {
	harness.Depot
	harness.Bells
} = (*Depot)(nil)

// NewDepot is an empty one.
func NewDepot() *Depot {
	return &Depot{places: map[string]*place{}, held: map[string]chan struct{}{}, bells: map[harness.Topic]map[chan struct{}]bool{}}
}

// Places implements [harness.Depot].
func (d *Depot) Places(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		d.mu.Lock()
		var names []string
		for name, p := range d.places {
			if len(p.files) > 0 {
				names = append(names, name)
			}
		}
		d.mu.Unlock()
		slices.Sort(names)
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				yield("", err)
				return
			}
			if !yield(name, nil) {
				return
			}
		}
	}
}

// Place implements [harness.Depot].
func (d *Depot) Place(ctx context.Context, name string, known uint64) (harness.Place, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.places[name]
	if p == nil || ctx.Err() != nil {
		return harness.Place{}, ctx.Err()
	}
	list := harness.Place{Version: p.version}
	if p.version == known {
		return list, nil
	}
	for _, f := range p.files {
		list.Files = append(list.Files, harness.Filed{Name: f.Name, Session: f.Session, Size: int64(len(f.Content)), SHA256: sha256.Sum256(f.Content)})
	}
	slices.SortFunc(list.Files, func(a, b harness.Filed) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Deliver implements [harness.Depot].
func (d *Depot) Deliver(ctx context.Context, change harness.Delivery) (uint64, error) {
	if err := change.Check(); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.places[change.Place]
	if p == nil {
		p = &place{files: map[string]harness.Parcel{}}
	}
	if change.At != harness.AnyVersion && change.At != p.version {
		return 0, fmt.Errorf("%s is of version %d, not %d: %w", change.Place, p.version, change.At, harness.ErrConflict)
	}
	for _, name := range change.Remove {
		delete(p.files, name)
	}
	for _, f := range change.Add {
		f.Content = bytes.Clone(f.Content)
		p.files[f.Name] = f
	}
	d.places[change.Place] = p
	d.movedLocked(change.Place, p)
	return p.version, nil
}

// movedLocked gives a place another version and rings its bells.
func (d *Depot) movedLocked(name string, p *place) {
	d.version++
	p.version = d.version
	for bell := range d.bells[harness.AboutPlace(name)] {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
}

// Remove forgets the files of a session, as a store does that removes it.
func (d *Depot) Remove(id harness.SessionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, p := range d.places {
		had, others := len(p.files), false
		for file, f := range p.files {
			if f.Session == id {
				delete(p.files, file)
			}
			others = others || f.Session != "" && f.Session != id
		}
		if len(p.files) == had {
			continue
		}
		if !others {
			clear(p.files)
		}
		d.movedLocked(name, p)
	}
}

// Fetch implements [harness.Depot].
func (d *Depot) Fetch(_ context.Context, place, name string) (io.ReadSeekCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.places[place]; p != nil {
		if f, ok := p.files[name]; ok {
			return fetched{bytes.NewReader(f.Content)}, nil
		}
	}
	return nil, fmt.Errorf("fetch %s of %s: %w", name, place, harness.ErrNotFound)
}

type fetched struct{ *bytes.Reader }

func (fetched) Close() error { return nil }

// Hold implements [harness.Depot].
func (d *Depot) Hold(ctx context.Context, place string) (release func(), err error) {
	for {
		d.mu.Lock()
		other := d.held[place]
		if other == nil {
			mine := make(chan struct{})
			d.held[place] = mine
			d.mu.Unlock()
			return sync.OnceFunc(func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				delete(d.held, place)
				close(mine)
			}), nil
		}
		d.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("hold %s: %w", place, ctx.Err())
		}
	}
}

// Hang implements [harness.Bells], for places only.
func (d *Depot) Hang(about harness.Topic) (<-chan struct{}, func()) {
	bell := make(chan struct{}, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bells[about] == nil {
		d.bells[about] = map[chan struct{}]bool{}
	}
	d.bells[about][bell] = true
	return bell, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.bells[about], bell)
	}
}
