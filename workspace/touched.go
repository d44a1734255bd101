package workspace

import (
	"errors"

	"harness"
	"harness/workspace/object"
)

// Reasons of a conflict.
const (
	SinceLastTurn  = "changed since the session's last turn"
	BetweenTurns   = "changed between turns of the session"
	AnotherSession = "changed while another session was at work"
	NotKept        = "the present content was not kept"
	NotEmpty       = "something in the directory stays"
	ParentStays    = "what is in place of the directory stays"
	JustChanged    = "changed during the rewind"
)

// touched returns the paths that somebody else changed since target, and when.
//
// What changed between a Before and the next After is the session's doing. What
// changed from an After to the next Before, or from the last After until now,
// is not. What changed while another session was at work is that session's,
// even if this one was at work at the same time: nobody can tell them apart.
func (t *Tree) touched(s *object.Store, session harness.SessionID, target Mark, targetRoot, now object.ID) (map[string]string, error) {
	paths := map[string]string{}
	note := func(a, b object.ID, why string) error {
		return diff(s, "", a, b, func(path string, _, _ *Entry) { paths[path] = why })
	}
	last, lastRoot := target, targetRoot
	err := t.since(session, target, func(m Mark, root object.ID) error {
		var err error
		if last.Phase == After && m.Phase == Before {
			err = note(lastRoot, root, BetweenTurns)
		}
		last, lastRoot = m, root
		return err
	})
	if err == nil && last.Phase == After {
		err = note(lastRoot, now, SinceLastTurn)
	}
	if err != nil {
		return nil, err
	}
	others, err := t.sessions()
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if other == session {
			continue
		}
		if err := t.otherWork(other, target, now, note); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// since visits the session's marks after target, oldest first.
func (t *Tree) since(session harness.SessionID, target Mark, visit func(Mark, object.ID) error) error {
	ids, err := t.ids(session)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id <= target.ID {
			continue
		}
		m, root, err := t.read(session, id)
		if errors.Is(err, ErrGone) {
			continue
		}
		if err == nil {
			err = visit(m, root)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// otherWork notes what changed while another session was at work, if that
// ended after target or has not ended.
func (t *Tree) otherWork(other harness.SessionID, target Mark, now object.ID, note func(a, b object.ID, why string) error) error {
	ids, err := t.ids(other)
	if err != nil {
		return err
	}
	for i, id := range ids {
		_, phase, _ := markTime(id)
		end := ""
		if i+1 < len(ids) {
			end = ids[i+1]
		}
		if phase != Before || end != "" && end <= target.ID {
			continue
		}
		_, from, err := t.read(other, id)
		to := now
		if err == nil && end != "" {
			_, to, err = t.read(other, end)
		}
		if errors.Is(err, ErrGone) {
			continue
		}
		if err == nil {
			err = note(from, to, AnotherSession)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
