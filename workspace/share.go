package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"harness"
	"harness/internal/flock"
	"harness/workspace/object"
)

// share is a place of a depot that has what is kept about a tree, for every
// process that works in the tree, on whichever machine. The data directory is
// then a copy of it: packs, marks and the journal. The index is each copy's own.
//
// What is pulled is what the place has, but for packs that are here alone: those
// are pushed with the next mark. A mark is pushed only if the packs that it may
// rely on are still there; if another process has collected them, it is taken
// again.
type share struct {
	depot harness.Depot
	place string
}

// The names in a place.
const (
	packsAt   = "packs/"
	marksAt   = "marks/"
	journalAt = "journal"
)

// errMoved says that packs which a mark may rely on are gone.
var errMoved = errors.New("snapshots were tidied up meanwhile")

// copied is what of a place this copy has had, in a file beside it.
type copied struct {
	Version uint64          `json:"version"` // this far the copy is complete
	Packs   map[string]bool `json:"packs"`   // that the place had
	Unsure  bool            `json:"unsure,omitempty"`
}

// unsure says that the copy may differ from the place, until a push has ended:
// whoever comes after a crash compares all of it.
func (t *Tree) unsure() error {
	if t.share == nil {
		return nil
	}
	c := t.copied()
	c.Unsure = true
	return t.saveCopied(c)
}

func (t *Tree) copied() (c copied) {
	b, err := os.ReadFile(filepath.Join(t.data, "copied"))
	if err != nil || json.Unmarshal(b, &c) != nil {
		c = copied{} // then all is compared
	}
	if c.Packs == nil {
		c.Packs = map[string]bool{}
	}
	return c
}

func (t *Tree) saveCopied(c copied) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return replace(filepath.Join(t.data, "copied"), b, false)
}

// enter has the copy for one piece of work, and makes it what the place is.
// Without a share it does nothing.
func (t *Tree) enter(ctx context.Context) (leave func(), err error) {
	if t.share == nil {
		return func() {}, nil
	}
	if err := t.prepare(); err != nil {
		return nil, err
	}
	release, err := t.claim(ctx, "copied.lock")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(t.bringIn(ctx), t.pull(ctx)); err != nil {
		return nil, errors.Join(err, release())
	}
	return func() { release() }, nil
}

// bringIn gives the place what was kept here before it was shared.
func (t *Tree) bringIn(ctx context.Context) error {
	if _, err := os.Lstat(filepath.Join(t.data, "copied")); err == nil {
		return nil
	}
	names, err := t.all()
	if err != nil || len(names) == 0 {
		return err
	}
	var notes []harness.Parcel
	for name := range names {
		at, ok := t.note(name)
		if !ok {
			continue
		}
		b, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		session, _, _ := strings.Cut(strings.TrimPrefix(name, marksAt), "/")
		notes = append(notes, harness.Parcel{Name: name, Session: harness.SessionID(session), Content: b})
	}
	s, err := object.Open(ctx, t.objects(), t.storeOptions())
	if err != nil {
		return err
	}
	defer s.Close()
	return t.push(ctx, s, notes...)
}

// claim takes a lock in the data directory, and waits for it at most until ctx
// ends.
func (t *Tree) claim(ctx context.Context, name string) (release func() error, err error) {
	for {
		l, err := flock.Take(filepath.Join(t.data, name))
		if err == nil {
			return l.Release, nil
		}
		if _, held := errors.AsType[*flock.HeldError](err); !held {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s of %s: %w", name, t.root, context.Cause(ctx))
		case <-time.After(5 * time.Millisecond): // flock has no wait that ctx could end
		}
	}
}

// pullTries is how often a place is read that changes while it is.
const pullTries = 10

// pull makes the copy what the place is. It has been entered, and the store of
// objects is not open.
func (t *Tree) pull(ctx context.Context) (err error) {
	for range pullTries {
		if err = t.pullOnce(ctx); !errors.Is(err, errMoved) {
			break
		}
	}
	return err
}

func (t *Tree) pullOnce(ctx context.Context) error {
	was := t.copied()
	known := was.Version
	if was.Unsure {
		known = 0
	}
	p, err := t.share.depot.Place(ctx, t.share.place, known)
	if err != nil || p.Version == was.Version && !was.Unsure {
		return err
	}
	there := make(map[string]bool, len(p.Files))
	for _, f := range p.Files {
		there[f.Name] = true
	}
	if err := t.pullPacks(ctx, p, there, was); err != nil {
		return err
	}
	if err := t.pullNotes(ctx, p, there); err != nil {
		return err
	}
	now := copied{Version: p.Version, Packs: map[string]bool{}}
	for name := range there {
		if pack, ok := strings.CutPrefix(name, packsAt); ok {
			now.Packs[pack] = true
		}
	}
	return t.saveCopied(now)
}

// pullPacks fetches the packs that are not here, and drops those that the place
// had and has no more. What it drops the index may need.
func (t *Tree) pullPacks(ctx context.Context, p harness.Place, there map[string]bool, was copied) error {
	names, err := object.Packs(t.objects())
	if err != nil {
		return err
	}
	here, gone := map[string]bool{}, []string(nil)
	for _, name := range names {
		if here[name] = true; was.Packs[name] && !there[packsAt+name] {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		if err := object.Drop(ctx, t.objects(), gone, func() { os.Remove(t.index()) }); err != nil {
			return err
		}
	}
	var s *object.Store
	for _, f := range p.Files {
		name, ok := strings.CutPrefix(f.Name, packsAt)
		if !ok || here[name] {
			continue
		}
		if s == nil {
			if s, err = object.Open(ctx, t.objects(), t.storeOptions()); err != nil {
				return err
			}
			defer s.Close()
		}
		content, err := t.share.depot.Fetch(ctx, t.share.place, f.Name)
		if errors.Is(err, harness.ErrNotFound) { // collected just now: the next pull hears of it
			return fmt.Errorf("%s: %w", f.Name, errMoved)
		}
		if err != nil {
			return err
		}
		if err := errors.Join(s.AddPack(name, content), content.Close()); err != nil {
			return err
		}
	}
	return nil
}

// pullNotes makes marks and the journal those of the place.
func (t *Tree) pullNotes(ctx context.Context, p harness.Place, there map[string]bool) error {
	sessions, err := t.sessions()
	if err != nil {
		return err
	}
	for _, session := range sessions {
		ids, err := t.ids(session)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if there[markName(session, id)] {
				continue
			}
			if err := os.Remove(filepath.Join(t.marks(session), id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		os.Remove(t.marks(session)) // if it is empty
	}
	if !there[journalAt] {
		if err := os.Remove(t.journal()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, f := range p.Files {
		at, ok := t.note(f.Name)
		if !ok {
			continue
		}
		if _, err := os.Lstat(at); err == nil && f.Name != journalAt {
			continue
		}
		if err := t.fetch(ctx, f.Name, at); err != nil {
			return err
		}
	}
	return nil
}

// note is where a mark or the journal belongs, by its name in the place.
func (t *Tree) note(name string) (at string, ok bool) {
	if name == journalAt {
		return t.journal(), true
	}
	rest, ok := strings.CutPrefix(name, marksAt)
	session, id, cut := strings.Cut(rest, "/")
	_, _, isMark := markTime(id)
	if _, err := harness.ParseSessionID(session); !ok || !cut || !isMark || err != nil {
		return "", false
	}
	return filepath.Join(t.marks(harness.SessionID(session)), id), true
}

// fetch writes a small file of the place.
func (t *Tree) fetch(ctx context.Context, name, to string) error {
	content, err := t.share.depot.Fetch(ctx, t.share.place, name)
	if errors.Is(err, harness.ErrNotFound) {
		return fmt.Errorf("%s: %w", name, errMoved)
	}
	if err != nil {
		return err
	}
	defer content.Close()
	b, err := io.ReadAll(content)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err != nil {
		return err
	}
	return replace(to, b, false)
}
