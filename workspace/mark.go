package workspace

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"harness"
	"harness/workspace/object"
)

// Phase says what a session did when it took a mark.
type Phase = harness.MarkPhase

const (
	Before = harness.MarkBefore // the session begins to change files: the start of a turn
	After  = harness.MarkAfter  // it has stopped: the end of a turn
)

// Mark is a snapshot.
type Mark struct {
	ID      string            `json:"id"` // mrk_…, sorts by time within a session
	Session harness.SessionID `json:"session"`
	Phase   Phase             `json:"phase"`
	Time    time.Time         `json:"time"`
	Root    string            `json:"root"` // the tree's id: equal for equal trees
	Mode    uint32            `json:"mode"` // of the directory itself
	Files   int               `json:"files"`
	Bytes   int64             `json:"bytes"`
	// Incomplete names the bounds that were hit: something worth keeping was not kept.
	Incomplete []string `json:"incomplete,omitempty"`
	// Skipped counts what was not kept by its reason; Skips are the first of them.
	Skipped map[string]int `json:"skipped,omitempty"`
	Skips   []Skip         `json:"-"`
}

// Skip is a path that was not kept, and why.
type Skip struct {
	Path   string
	Reason Reason
}

const (
	markPrefix = "mrk_"
	markRandom = 8
	markLength = len(markPrefix) + 16 + 1 + markRandom
)

// markTime reads the time and the phase out of a mark's id; ok is false for
// anything that is not one, such as a path.
func markTime(id string) (nanos int64, p Phase, ok bool) {
	if len(id) != markLength || !strings.HasPrefix(id, markPrefix) {
		return 0, "", false
	}
	rest := id[len(markPrefix):]
	n, err := strconv.ParseUint(rest[:16], 16, 63)
	switch rest[16] {
	case Before[0]:
		p = Before
	case After[0]:
		p = After
	}
	for _, c := range []byte(rest) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z') {
			return 0, "", false
		}
	}
	return int64(n), p, err == nil && p != ""
}

func (t *Tree) marks(session harness.SessionID) string {
	return filepath.Join(t.data, "marks", string(session))
}

// ids returns the ids of a session's marks, oldest first.
func (t *Tree) ids(session harness.SessionID) ([]string, error) {
	entries, err := os.ReadDir(t.marks(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var ids []string
	for _, e := range entries {
		if _, _, ok := markTime(e.Name()); ok {
			ids = append(ids, e.Name())
		}
	}
	return ids, err
}

// sessions returns the sessions that have marks in the tree.
func (t *Tree) sessions() ([]harness.SessionID, error) {
	entries, err := os.ReadDir(filepath.Join(t.data, "marks"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []harness.SessionID
	for _, e := range entries {
		if id, err := harness.ParseSessionID(e.Name()); err == nil && e.IsDir() {
			list = append(list, id)
		}
	}
	return list, err
}

// write makes the mark durable under a new id, later than the session's others.
func (t *Tree) write(ctx context.Context, s *object.Store, m *Mark) error {
	ids, err := t.ids(m.Session)
	if err != nil {
		return err
	}
	now := m.Time.UnixNano()
	if len(ids) > 0 {
		last, _, _ := markTime(ids[len(ids)-1])
		now = max(now, last+1)
	}
	m.Time = time.Unix(0, now).UTC()
	m.ID = fmt.Sprintf("%s%016x%c%s", markPrefix, now, m.Phase[0], strings.ToLower(rand.Text()[:markRandom]))
	if err := os.MkdirAll(t.marks(m.Session), 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := t.unsure(); err != nil {
		return err
	}
	at := filepath.Join(t.marks(m.Session), m.ID)
	if err := replace(at, b, true); err != nil {
		return err
	}
	if err := t.push(ctx, s, harness.Parcel{Name: markName(m.Session, m.ID), Session: m.Session, Content: b}); err != nil {
		return errors.Join(err, os.Remove(at))
	}
	return nil
}

// read returns a mark of the session.
func (t *Tree) read(session harness.SessionID, id string) (m Mark, root object.ID, err error) {
	if _, _, ok := markTime(id); !ok {
		return m, root, fmt.Errorf("mark %q: %w", id, ErrGone)
	}
	b, err := os.ReadFile(filepath.Join(t.marks(session), id))
	if errors.Is(err, fs.ErrNotExist) {
		return m, root, fmt.Errorf("mark %s: %w", id, ErrGone)
	}
	if err != nil {
		return m, root, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, root, fmt.Errorf("mark %s: %w", id, ErrDamaged)
	}
	if root, err = object.ParseID(m.Root); err != nil || m.ID != id {
		return m, root, fmt.Errorf("mark %s: %w", id, ErrDamaged)
	}
	return m, root, nil
}

// lookup returns a mark of the session, or else of any other: a branch goes
// back to marks of the session it came from.
func (t *Tree) lookup(session harness.SessionID, id string) (Mark, object.ID, error) {
	m, root, err := t.read(session, id)
	if !errors.Is(err, ErrGone) {
		return m, root, err
	}
	others, listErr := t.sessions()
	if listErr != nil {
		return m, root, listErr
	}
	for _, other := range others {
		if m, root, err := t.read(other, id); !errors.Is(err, ErrGone) {
			return m, root, err
		}
	}
	return m, root, err
}

// Marks returns the session's marks, oldest first.
func (t *Tree) Marks(session harness.SessionID) ([]Mark, error) {
	if err := harness.CheckID("session id", string(session)); err != nil {
		return nil, err
	}
	ids, err := t.ids(session)
	if err != nil {
		return nil, err
	}
	var list []Mark
	for _, id := range ids {
		m, _, err := t.read(session, id)
		if errors.Is(err, ErrGone) { // collected meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Mark) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// Forget removes the session's marks. Collect then frees what only they kept.
func (t *Tree) Forget(session harness.SessionID) error {
	if err := harness.CheckID("session id", string(session)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), forgetFor)
	defer cancel()
	leave, err := t.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ids, err := t.ids(session)
	if err != nil {
		return err
	}
	var names []string
	for _, id := range ids {
		names = append(names, markName(session, id))
	}
	return errors.Join(t.withdraw(ctx, names...), os.RemoveAll(t.marks(session)))
}

// forgetFor bounds a Forget, which nobody can end early.
const forgetFor = time.Minute
