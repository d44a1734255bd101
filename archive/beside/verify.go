package beside

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"harness"
)

// Verify reads all of both and compares them by SHA-256, and texts entry by
// entry. The first difference is ErrCorrupt, with its place. The other may have
// more. Files that were left are not looked at, nor is the journal of a rewind.
func Verify(ctx context.Context, from, to Keep, left []File) error {
	skip := make(map[File]bool, len(left))
	for _, f := range left {
		skip[f] = true
	}
	for place, err := range from.Places(ctx) {
		if err == nil && place != loginsAt {
			err = same(ctx, from, to, place, skip)
		}
		if err != nil {
			return fmt.Errorf("verify %s: %w", place, err)
		}
	}
	return nil
}

func same(ctx context.Context, from, to Keep, place string, skip map[File]bool) error {
	has, err := from.Place(ctx, place, 0)
	if err != nil {
		return err
	}
	there, err := filed(ctx, to, place)
	if err != nil {
		return err
	}
	p, isPaper := paperAt(place)
	for _, f := range has.Files {
		switch {
		case isJournal(place, f.Name), skip[File{place, f.Name}]:
		case isPaper && f.Name == textAt:
			err = sameEntries(ctx, from, to, p)
		case there[f.Name].SHA256 != f.SHA256 || there[f.Name].Session != f.Session:
			err = fmt.Errorf("%s is missing, another, or another's: %w", f.Name, harness.ErrCorrupt)
		default:
			if err = sound(ctx, from, place, f); err == nil {
				err = sound(ctx, to, place, f)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func sameEntries(ctx context.Context, from, to Keep, p paper) error {
	a, err := read(ctx, from, p.place, textAt)
	if err != nil {
		return err
	}
	b, err := read(ctx, to, p.place, textAt)
	if err != nil && !errors.Is(err, harness.ErrNotFound) {
		return err
	}
	return p.within(a, b)
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
