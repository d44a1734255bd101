package beside

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
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
func Copy(ctx context.Context, from, to Keep) (Counted, error) {
	var c Counted
	for place, err := range from.Places(ctx) {
		if err == nil {
			err = c.place(ctx, from, to, place)
		}
		if err != nil {
			return c, fmt.Errorf("copy %s: %w", place, err)
		}
	}
	return c, nil
}

func (c *Counted) place(ctx context.Context, from, to Keep, place string) (err error) {
	if place == loginsAt {
		return nil
	}
	if p, ok := paperAt(place); ok {
		err = c.paper(ctx, from, to, p)
	} else {
		err = c.files(ctx, from, to, place)
	}
	if errors.Is(err, harness.ErrUnsupported) {
		c.Left = append(c.Left, place)
		return nil
	}
	return err
}

// files copies the files of a place that the other lacks.
func (c *Counted) files(ctx context.Context, from, to Keep, place string) error {
	has, err := from.Place(ctx, place, 0)
	if err != nil {
		return err
	}
	there, err := filed(ctx, to, place)
	if err != nil {
		return err
	}
	slices.Reverse(has.Files) // packs come before the marks that need them
	d, size := harness.Delivery{Place: place, At: harness.AnyVersion}, 0
	deliver := func() error {
		if len(d.Add) == 0 {
			return nil
		}
		_, err := to.Deliver(ctx, d)
		c.New += len(d.Add)
		d.Add, size = nil, 0
		return err
	}
	for _, f := range has.Files {
		c.count(place, f.Name)
		if o, ok := there[f.Name]; ok && o.SHA256 == f.SHA256 {
			continue
		} else if ok {
			return fmt.Errorf("%s is there and is another: %w", f.Name, harness.ErrExists)
		}
		content, err := read(ctx, from, place, f.Name)
		if err != nil {
			return err
		}
		if sha256.Sum256(content) != f.SHA256 {
			return fmt.Errorf("%s is not what was delivered: %w", f.Name, harness.ErrCorrupt)
		}
		if len(d.Add) == deliverFiles || size+len(content) > deliverBytes {
			if err := deliver(); err != nil {
				return err
			}
		}
		d.Add = append(d.Add, harness.Parcel{Name: f.Name, Session: f.Session, Content: content})
		size += len(content)
	}
	return deliver()
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
func (c *Counted) paper(ctx context.Context, from, to Keep, p paper) error {
	text, err := read(ctx, from, p.place, textAt)
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
	if *p.count(c) = n; n == 0 {
		return nil
	}
	for {
		at, err := to.Place(ctx, p.place, 0)
		if err != nil {
			return err
		}
		has, err := read(ctx, to, p.place, textAt)
		if err != nil && !errors.Is(err, harness.ErrNotFound) {
			return err
		}
		next, changed, err := p.merge(has, text)
		if err != nil || !changed {
			return err
		}
		_, err = to.Deliver(ctx, harness.Delivery{Place: p.place, At: at.Version, Add: []harness.Parcel{{Name: textAt, Content: next}}})
		if !errors.Is(err, harness.ErrConflict) {
			c.New++
			return err
		}
	}
}

// Verify reads all of both and compares them by SHA-256, and texts entry by
// entry. The first difference is ErrCorrupt, with its place. The other may have
// more. Places that were left are not looked at.
func Verify(ctx context.Context, from, to Keep, left []string) error {
	for place, err := range from.Places(ctx) {
		if err == nil && place != loginsAt && !slices.Contains(left, place) {
			err = same(ctx, from, to, place)
		}
		if err != nil {
			return fmt.Errorf("verify %s: %w", place, err)
		}
	}
	return nil
}

func same(ctx context.Context, from, to Keep, place string) error {
	if p, ok := paperAt(place); ok {
		a, err := read(ctx, from, place, textAt)
		if err != nil {
			return err
		}
		b, err := read(ctx, to, place, textAt)
		if err != nil && !errors.Is(err, harness.ErrNotFound) {
			return err
		}
		return p.within(a, b)
	}
	has, err := from.Place(ctx, place, 0)
	if err != nil {
		return err
	}
	there, err := filed(ctx, to, place)
	if err != nil {
		return err
	}
	for _, f := range has.Files {
		if o := there[f.Name]; o.SHA256 != f.SHA256 || o.Session != f.Session {
			return fmt.Errorf("%s is missing, another, or another's: %w", f.Name, harness.ErrCorrupt)
		}
		for _, k := range []Keep{from, to} {
			if err := sound(ctx, k, place, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// sound reads a file and compares it with what is said of it.
func sound(ctx context.Context, k Keep, place string, f harness.Filed) error {
	file, err := k.Fetch(ctx, place, f.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	h := sha256.New()
	n, err := io.Copy(h, file)
	if err != nil {
		return err
	}
	if n != f.Size || [sha256.Size]byte(h.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%s is not what was delivered: %w", f.Name, harness.ErrCorrupt)
	}
	return nil
}
