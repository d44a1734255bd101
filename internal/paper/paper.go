// Package paper is a text that several processes change in turns: a small file
// in a place of its own in a depot.
//
// Whoever changes it has read what it changes: of two that change it at once one
// reads again.
package paper

import (
	"context"
	"errors"
	"fmt"
	"io"

	"harness"
)

// Max bounds a text. It is read whole, by every process, after each change.
const Max = 4 << 20

// name is that of the one file.
const name = "text"

// changeTries is how often a change is tried again that others were faster than.
const changeTries = 100

// Paper is a text in a depot.
type Paper struct {
	depot harness.Depot
	place string
}

// In is the text that a place of a depot has.
func In(d harness.Depot, place string) *Paper { return &Paper{d, place} }

// Topic is that of the bells that ring after a change.
func (p *Paper) Topic() harness.Topic { return harness.AboutPlace(p.place) }

// Read is the text and its version; a text that nobody wrote is empty and of
// version 0. If it is still of the version known, and that is not 0, the text is
// nil.
func (p *Paper) Read(ctx context.Context, known uint64) (text []byte, version uint64, err error) {
	at, err := p.depot.Place(ctx, p.place, known)
	if err != nil || at.Version == known && known != 0 {
		return nil, at.Version, err
	}
	if len(at.Files) == 0 {
		return []byte{}, at.Version, nil
	}
	f, err := p.depot.Fetch(ctx, p.place, name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, Max+1))
	if err == nil && len(text) > Max {
		err = fmt.Errorf("%s is larger than %d bytes: %w", p.place, Max, harness.ErrCorrupt)
	}
	if text == nil {
		text = []byte{}
	}
	return text, at.Version, err
}

// Change makes the text what f makes of it, and returns its version then. f is
// called again with what others have written meanwhile; its error ends it. A nil
// text changes nothing.
func (p *Paper) Change(ctx context.Context, f func(text []byte) ([]byte, error)) (version uint64, err error) {
	for range changeTries {
		text, at, err := p.Read(ctx, 0)
		if errors.Is(err, harness.ErrNotFound) {
			continue // it was written again just now
		}
		if err != nil {
			return 0, err
		}
		if text, err = f(text); err != nil || text == nil {
			return at, err
		}
		if len(text) > Max {
			return 0, fmt.Errorf("%s: %d bytes, more than %d: %w", p.place, len(text), Max, harness.ErrTooLarge)
		}
		version, err = p.depot.Deliver(ctx, harness.Delivery{Place: p.place, At: at, Add: []harness.Parcel{{Name: name, Content: text}}})
		if err == nil || !errors.Is(err, harness.ErrConflict) {
			return version, err
		}
	}
	return 0, fmt.Errorf("%s: others were always faster: %w", p.place, harness.ErrConflict)
}
