package workspace

import (
	"errors"
	"slices"
	"strings"

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

// Lineage is, for each session whose beginning is also another's, the last mark
// of that beginning.
type Lineage map[harness.SessionID]string

// touched returns the paths that somebody else changed since target, and when.
//
// What changed between a Before and the next After is the session's doing. What
// changed from an After to the next Before, or from the last After until now,
// is not. What changed while another session was at work is that session's,
// even if this one was at work at the same time: nobody can tell them apart.
//
// What lineage counts as the session's own is its beginning in other sessions.
func (t *Tree) touched(s *object.Store, session harness.SessionID, lineage Lineage, target Mark, targetRoot, now object.ID) (map[string]string, error) {
	paths := map[string]string{}
	note := func(a, b object.ID, why string) error {
		return diff(s, "", a, b, func(path string, _, _ *Entry) { paths[path] = why })
	}
	last, lastRoot := target, targetRoot
	err := t.since(session, lineage, target, func(m Mark, root object.ID) error {
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
		if err := t.otherWork(other, lineage[other], target, now, note); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// since visits the marks of the session and its lineage after target, oldest
// first.
func (t *Tree) since(session harness.SessionID, lineage Lineage, target Mark, visit func(Mark, object.ID) error) error {
	type mark struct {
		session harness.SessionID
		id      string
	}
	var list []mark
	add := func(session harness.SessionID, last string) error {
		ids, err := t.ids(session)
		for _, id := range ids {
			if id > target.ID && (last == "" || id <= last) {
				list = append(list, mark{session, id})
			}
		}
		return err
	}
	err := add(session, "")
	for other, last := range lineage {
		err = errors.Join(err, add(other, last))
	}
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b mark) int { return strings.Compare(a.id, b.id) })
	for _, at := range list {
		m, root, err := t.read(at.session, at.id)
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
// ended after target and after last, or has not ended.
func (t *Tree) otherWork(other harness.SessionID, last string, target Mark, now object.ID, note func(a, b object.ID, why string) error) error {
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
		if phase != Before || end != "" && (end <= target.ID || end <= last) {
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
