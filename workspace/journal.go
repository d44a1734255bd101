package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"harness"
	"harness/workspace/object"
)

// journal is written before a rewind touches the tree and removed after it.
// Whoever finds one that nobody is working on finishes the rewind.
type journal struct {
	Session harness.SessionID `json:"session"`
	Target  string            `json:"target"` // the mark gone back to
	Safety  string            `json:"safety"` // the tree before
	Temp    string            `json:"temp"`   // the name of the stage
	Chosen  [][]byte          `json:"chosen"` // paths that change; bytes, not text
}

func (t *Tree) journal() string { return filepath.Join(t.data, "journal") }

func (t *Tree) readJournal() (*journal, error) {
	b, err := os.ReadFile(t.journal())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := &journal{}
	if err := json.Unmarshal(b, j); err != nil {
		return nil, fmt.Errorf("journal of a rewind: %w", ErrDamaged)
	}
	return j, nil
}

func (t *Tree) writeJournal(ctx context.Context, s *object.Store, j *journal) error {
	b, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := t.unsure(); err != nil {
		return err
	}
	if err := replace(t.journal(), b, true); err != nil {
		return err
	}
	if err := t.push(ctx, s, harness.Parcel{Name: journalAt, Content: b}); err != nil {
		return errors.Join(err, os.Remove(t.journal()))
	}
	return nil
}

func (t *Tree) removeJournal(ctx context.Context) error {
	if err := os.Remove(t.journal()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(object.SyncDir(t.data), t.withdraw(ctx, journalAt))
}

// alone claims the tree for a rewind, until release. It waits for another one,
// at most until ctx ends.
func (t *Tree) alone(ctx context.Context) (release func() error, err error) {
	here, err := t.claim(ctx, "rewind.lock")
	if err != nil || t.share == nil {
		return here, err
	}
	everywhere, err := t.share.depot.Hold(ctx, t.share.place)
	if err != nil {
		return nil, errors.Join(err, here())
	}
	release = func() error {
		everywhere()
		return here()
	}
	if err := t.pull(ctx); err != nil { // what whoever had it left
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// settle returns when no rewind is under way and none is left half done.
func (t *Tree) settle(ctx context.Context) error {
	if err := t.prepare(); err != nil {
		return err
	}
	if _, err := os.Lstat(t.journal()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, err := t.alone(ctx)
	if err != nil {
		return err
	}
	defer release()
	return t.finish(ctx)
}

// finish does what is left of a rewind that was killed. The tree is claimed.
func (t *Tree) finish(ctx context.Context) error {
	j, err := t.readJournal()
	if err != nil || j == nil {
		return err
	}
	s, err := object.Open(ctx, t.objects(), t.storeOptions())
	if err != nil {
		return err
	}
	defer s.Close()
	target, want, err := t.lookup(j.Session, j.Target)
	if err == nil {
		_, was, lost := t.read(j.Session, j.Safety)
		if err = lost; err == nil {
			err = t.goOn(ctx, s, j, target, want, was)
		}
	}
	if errors.Is(err, ErrGone) { // its marks were forgotten, and with them the wish
		return t.removeJournal(ctx)
	}
	return err
}

// goOn repeats the rewind for the chosen paths. A path that is neither as it was
// before nor as it shall be has been changed by somebody since, and stays.
func (t *Tree) goOn(ctx context.Context, s *object.Store, j *journal, target Mark, want, was object.ID) error {
	chosen := make(map[string]bool, len(j.Chosen))
	for _, p := range j.Chosen {
		chosen[string(p)] = true
	}
	r, err := t.restorer(nil, nil, j.Temp)
	if err != nil {
		return err
	}
	err = r.sweep()
	r.close()
	if err != nil {
		return err
	}
	m, now, err := t.look(ctx, s, want)
	if err != nil {
		return err
	}
	touched := map[string]string{}
	opened := map[string]bool{}
	err = diff(s, "", now.id, was, func(path string, now, was *Entry) {
		if opened[path] = isDir(now) && isDir(was) && now.Mode == was.Mode|0o700; !opened[path] {
			touched[path] = JustChanged
		}
	})
	if err != nil {
		return err
	}
	err = diff(s, "", now.id, want, func(path string, now, want *Entry) {
		switch {
		case opened[path]: // for the rewind to write in it
		case !chosen[path]:
			touched[path] = SinceLastTurn
		case now == nil, isDir(now) && isDir(want), now.Kind == File && now.Size == 0: // halfway, or torn by a loss of power
			delete(touched, path)
		}
	})
	if err != nil {
		return err
	}
	p, err := makePlan(s, target, now.id, want, touched, false)
	if err != nil {
		return err
	}
	_, err = t.carryOut(ctx, s, j, p, m, now)
	return err
}
