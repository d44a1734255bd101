package beside

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"harness"
)

// Bounds of a delivery: what comes together costs one flush.
const (
	deliverFiles = 100
	deliverBytes = 8 << 20
)

// Copy takes everything of one keep into another, in bounded memory: one file, or a
// delivery. A file that is there already and is another is ErrExists; of a
// text with entries those that are not there are added. So doing it again, also
// after it was interrupted, copies the rest.
//
// While a rewind of a directory is not at its end, everything else is copied and
// then it is ErrBusy.
func Copy(ctx context.Context, from, to Keep) (Counted, error) {
	c := copier{from: from, to: to}
	for place, err := range from.Places(ctx) {
		if err == nil && place != loginsAt {
			err = c.place(ctx, place)
		}
		if err != nil {
			return c.Counted, fmt.Errorf("copy %s: %w", place, err)
		}
	}
	return c.Counted, errors.Join(c.rewinds...)
}

// copier is a copy under way.
type copier struct {
	from, to Keep
	Counted
	rewinds []error
}

func (c *copier) place(ctx context.Context, place string) error {
	has, err := c.from.Place(ctx, place, 0)
	if err != nil {
		return err
	}
	there, err := filed(ctx, c.to, place)
	if err != nil {
		return err
	}
	slices.Reverse(has.Files) // packs come before the marks that need them
	p, isPaper := paperAt(place)
	d := parcels{copier: c, place: place}
	for _, f := range has.Files {
		switch {
		case isJournal(place, f.Name):
			err = c.rewind(ctx, place)
		case isPaper && f.Name == textAt:
			err = c.paper(ctx, p)
		default:
			err = d.file(ctx, f, there)
		}
		if err != nil {
			return err
		}
	}
	return d.deliver(ctx)
}

// parcels are files of a place that come together.
type parcels struct {
	*copier
	place string
	add   []harness.Parcel
	size  int
}

// file copies one that the other keep lacks, now or with those that follow.
func (d *parcels) file(ctx context.Context, f harness.Filed, there map[string]harness.Filed) error {
	if !takes(d.to, d.place, f.Name) {
		d.Left = append(d.Left, File{d.place, f.Name})
		return nil
	}
	if o, ok := there[f.Name]; ok && o.SHA256 == f.SHA256 {
		d.count(d.place, f.Name)
		return nil
	} else if ok {
		return fmt.Errorf("%s is there and is another: %w", f.Name, harness.ErrExists)
	}
	content, err := read(ctx, d.from, d.place, f.Name)
	if err != nil {
		return err
	}
	if sha256.Sum256(content) != f.SHA256 {
		return fmt.Errorf("%s is not what was delivered: %w", f.Name, harness.ErrCorrupt)
	}
	if len(d.add) == deliverFiles || d.size+len(content) > deliverBytes {
		if err := d.deliver(ctx); err != nil {
			return err
		}
	}
	d.add = append(d.add, harness.Parcel{Name: f.Name, Session: f.Session, Content: content})
	d.size += len(content)
	return nil
}

func (d *parcels) deliver(ctx context.Context) error {
	if len(d.add) == 0 {
		return nil
	}
	if _, err := d.to.Deliver(ctx, harness.Delivery{Place: d.place, At: harness.AnyVersion, Add: d.add}); err != nil {
		return err
	}
	for _, p := range d.add {
		d.count(d.place, p.Name)
	}
	d.New += len(d.add)
	d.add, d.size = nil, 0
	return nil
}

// filed is what a place holds, by name.
func filed(ctx context.Context, k Keep, place string) (map[string]harness.Filed, error) {
	p, err := k.Place(ctx, place, 0)
	if err != nil {
		return nil, err
	}
	all := make(map[string]harness.Filed, len(p.Files))
	for _, f := range p.Files {
		all[f.Name] = f
	}
	return all, nil
}

// paper copies the entries of a text.
func (c *copier) paper(ctx context.Context, p paper) error {
	text, err := read(ctx, c.from, p.place, textAt)
	if err != nil {
		return err
	}
	more, err := p.read(text)
	if err != nil {
		return err
	}
	n := 0
	for _, list := range more.lists {
		n += len(list)
	}
	if n > 0 {
		err = c.entries(ctx, p, text)
	}
	if err == nil {
		*p.count(&c.Counted) = n
	}
	return err
}

// entries gives the other's text what it lacks of this one.
func (c *copier) entries(ctx context.Context, p paper, text []byte) error {
	for {
		at, err := c.to.Place(ctx, p.place, 0)
		if err != nil {
			return err
		}
		has, err := read(ctx, c.to, p.place, textAt)
		if err != nil && !errors.Is(err, harness.ErrNotFound) {
			return err
		}
		next, changed, err := p.merge(has, text)
		if err != nil || !changed {
			return err
		}
		if most := p.most(c.to); len(next) > most {
			return fmt.Errorf("%d bytes, and no server there would read more than %d: %w", len(next), most, harness.ErrTooLarge)
		}
		_, err = c.to.Deliver(ctx, harness.Delivery{Place: p.place, At: at.Version, Add: []harness.Parcel{{Name: textAt, Content: next}}})
		if err == nil {
			c.New++
		}
		if !errors.Is(err, harness.ErrConflict) {
			return err
		}
	}
}
