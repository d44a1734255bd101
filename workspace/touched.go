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

// kin are other sessions whose work counts as a session's own.
type kin struct {
	lineage  map[harness.SessionID]string // up to this mark: its beginning was theirs
	children []harness.SessionID          // all of it: they were told to by the session
}

// child is the session itself if it is one; "" is the session that they are of.
func (k kin) child(id harness.SessionID) harness.SessionID {
	if slices.Contains(k.children, id) {
		return id
	}
	return ""
}

// touched returns the paths that somebody else changed since target, and when.
//
// What changed between a Before and the next After is the session's doing. What
// changed from an After to the next Before, or from the last After until now,
// is not. What changed while another session was at work is that session's,
// even if this one was at work at the same time: nobody can tell them apart.
//
// What its kin did is the session's own doing. Children may be at work while it
// is: only what changed when none of them was is somebody else's.
func (t *Tree) touched(s *object.Store, session harness.SessionID, kin kin, target Mark, targetRoot, now object.ID) (map[string]string, error) {
	paths := map[string]string{}
	note := func(a, b object.ID, why string) error {
		return diff(s, "", a, b, func(path string, _, _ *Entry) { paths[path] = why })
	}
	working, last := map[harness.SessionID]bool{}, targetRoot
	if target.Phase == Before {
		working[kin.child(target.Session)] = true
	}
	err := t.since(session, kin, target, func(m Mark, root object.ID) error {
		var err error
		if len(working) == 0 && m.Phase == Before {
			err = note(last, root, BetweenTurns)
		}
		if last = root; m.Phase == Before {
			working[kin.child(m.Session)] = true
		} else {
			delete(working, kin.child(m.Session))
		}
		return err
	})
	if err == nil && len(working) == 0 {
		err = note(last, now, SinceLastTurn)
	}
	if err != nil {
		return nil, err
	}
	others, err := t.sessions()
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if other == session || kin.child(other) != "" {
			continue
		}
		if err := t.otherWork(other, kin.lineage[other], target, now, note); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// since visits the marks of the session and its kin after target, oldest first.
func (t *Tree) since(session harness.SessionID, kin kin, target Mark, visit func(Mark, object.ID) error) error {
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
	for other, last := range kin.lineage {
		err = errors.Join(err, add(other, last))
	}
	for _, child := range kin.children {
		err = errors.Join(err, add(child, ""))
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
