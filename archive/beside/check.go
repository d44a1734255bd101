package beside

import (
	"context"
	"fmt"
	"strings"

	"harness"
	"harness/workspace/object"
)

// Checked says what a check read.
type Checked struct {
	Files   int
	Damaged int
}

// Check reads every file: it must be what was delivered, an artifact what its
// name says, a pack of snapshots sound in every piece, and a text one of entries.
// told is called with each that is not so. What changes meanwhile is nobody's
// damage.
func Check(ctx context.Context, k Keep, told func(place, name string, err error)) (Checked, error) {
	var c Checked
	for place, err := range k.Places(ctx) {
		var p harness.Place
		if err == nil {
			p, err = k.Place(ctx, place, 0)
		}
		if err != nil {
			return c, fmt.Errorf("check %s: %w", place, err)
		}
		for _, f := range p.Files {
			c.Files++
			err := checkFile(ctx, k, place, f)
			if ctx.Err() != nil {
				return c, ctx.Err()
			}
			if err == nil {
				continue
			}
			now, again := filed(ctx, k, place)
			if again != nil {
				return c, again
			}
			if now[f.Name] != f { // it has been replaced or removed
				continue
			}
			c.Damaged++
			told(place, f.Name, err)
		}
	}
	return c, nil
}

func checkFile(ctx context.Context, k Keep, place string, f harness.Filed) error {
	if err := sound(ctx, k, place, f); err != nil {
		return err
	}
	session, isArtifact := strings.CutPrefix(place, artifactsAt)
	p, isPaper := paperAt(place)
	isPack := strings.HasPrefix(place, treesAt) && strings.HasPrefix(f.Name, packsAt)
	if !isArtifact && !isPaper && !isPack {
		return nil
	}
	content, err := read(ctx, k, place, f.Name)
	if err != nil {
		return err
	}
	switch {
	case isPaper:
		_, err = p.read(content)
	case isPack:
		if err = object.CheckPack(content); err != nil {
			err = fmt.Errorf("%w: %w", err, harness.ErrCorrupt)
		}
	default:
		if harness.NewArtifact(harness.SessionID(session), "", "", content).ArtifactID != harness.ArtifactPrefix+session+"."+f.Name {
			err = fmt.Errorf("its content is another's: %w", harness.ErrCorrupt)
		}
	}
	return err
}
