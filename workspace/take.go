package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"harness"
	"harness/workspace/folder"
	"harness/workspace/object"
)

// Take makes a snapshot for the session. It is durable when Take returns. A
// rewind that was killed is finished first; one under way is waited for. When
// the disk or its share of it is full, Take makes room by Collect and tries
// once more before it fails with object.ErrFull; older marks stay as they are.
func (t *Tree) Take(ctx context.Context, session harness.SessionID, p Phase) (Mark, error) {
	if err := harness.CheckID("session id", string(session)); err != nil {
		return Mark{}, err
	}
	if p != Before && p != After {
		return Mark{}, fmt.Errorf("phase %q: %w", p, harness.ErrInvalid)
	}
	leave, err := t.enter(ctx)
	if err != nil {
		return Mark{}, err
	}
	defer leave()
	if err := t.settle(ctx); err != nil {
		return Mark{}, err
	}
	m, err := t.takeOnce(ctx, session, p)
	for n := 0; n < pullTries && errors.Is(err, errMoved); n++ {
		if err = t.pull(ctx); err == nil {
			m, err = t.takeOnce(ctx, session, p)
		}
	}
	if errors.Is(err, object.ErrFull) {
		if _, collected := t.free(ctx); collected != nil {
			return Mark{}, errors.Join(err, collected)
		}
		m, err = t.takeOnce(ctx, session, p)
	}
	return m, err
}

func (t *Tree) takeOnce(ctx context.Context, session harness.SessionID, p Phase) (Mark, error) {
	s, err := object.Open(ctx, t.objects(), t.storeOptions())
	if err != nil {
		return Mark{}, err
	}
	defer s.Close()
	return t.take(ctx, s, session, p)
}

// take scans and writes the mark, with the store held.
func (t *Tree) take(ctx context.Context, s *object.Store, session harness.SessionID, p Phase) (Mark, error) {
	m, _, err := t.look(ctx, s, object.ID{})
	if err != nil {
		return m, err
	}
	m.Session, m.Phase = session, p
	return m, t.write(ctx, s, &m)
}

// look scans the tree and makes its content durable. What the tree with the id
// also has is kept even if it is ignored by now.
func (t *Tree) look(ctx context.Context, s *object.Store, also object.ID) (Mark, *dir, error) {
	before := loadIndex(t.index())
	m, d, changed, err := t.scan(ctx, s, before, also)
	if err == nil && changed {
		_ = saveIndex(t.index(), d) // the snapshot is whole without it, and the next one slower
	}
	return m, d, err
}

// scan is look with the last state known. It reports whether the index is out of
// date, and leaves it.
func (t *Tree) scan(ctx context.Context, s *object.Store, before *dir, also object.ID) (Mark, *dir, bool, error) {
	m := Mark{Time: time.Now()}
	root, err := folder.Open(t.root)
	if err != nil {
		return m, nil, false, err
	}
	defer root.Close()
	self, err := root.Self()
	if err != nil {
		return m, nil, false, err
	}
	w, err := s.Writer()
	if err != nil {
		return m, nil, false, err
	}
	defer w.Abort()
	sc := &scanner{store: s, writer: w, bounds: t.bounds, deadline: m.Time.Add(t.bounds.Time), device: self.Device,
		spaces: make(chan *space, t.bounds.Workers)} // as many spaces as workers
	if own, err := folder.Open(t.data); err == nil {
		sc.own, _ = own.Self()
		own.Close()
	}
	for range t.bounds.Workers {
		sc.spaces <- &space{names: make([]byte, nameSpace)}
	}
	d, err := sc.scan(ctx, root, place{before: before, mark: also})
	if err != nil {
		return m, nil, false, fmt.Errorf("snapshot of %s: %w", t.root, err)
	}
	if err := w.Commit(); err != nil {
		return m, nil, false, fmt.Errorf("snapshot of %s: %w", t.root, err)
	}
	m.Root, m.Mode = d.id.String(), self.Mode
	sc.report(&m)
	return m, d, before == nil || sc.dirty.Load(), nil
}

// report fills in what was kept and what was not.
func (s *scanner) report(m *Mark) {
	m.Files, m.Bytes, m.Skips = int(s.files.Load()), s.bytes.Load(), s.skips
	for why, n := range s.skipped {
		if n == 0 {
			continue
		}
		if m.Skipped == nil {
			m.Skipped = map[string]int{}
		}
		m.Skipped[Reason(why).String()] = n
		switch Reason(why) {
		case Many:
			m.Incomplete, m.Files = append(m.Incomplete, "files"), min(m.Files, s.bounds.Files)
		case Bytes:
			m.Incomplete, m.Bytes = append(m.Incomplete, "bytes"), min(m.Bytes, s.bounds.Bytes)
		case Late:
			m.Incomplete = append(m.Incomplete, "time")
		}
	}
}
