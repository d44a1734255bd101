package harness

import (
	"fmt"
	"strconv"
	"strings"
)

// CursorKind says what is at the place that a [Cursor] names.
type CursorKind string

// The kinds of resume cursors.
const (
	AtEvent      CursorKind = "event"      // any event
	AtTurn       CursorKind = "turn"       // the end of a completed turn
	AtStep       CursorKind = "step"       // a checkpoint behind a step of a plan
	AtApproval   CursorKind = "approval"   // a question
	AtCompaction CursorKind = "compact"    // the context was compacted
	AtCheckpoint CursorKind = "checkpoint" // any other checkpoint
)

// CursorKinds lists every kind, for tables that must cover them.
func CursorKinds() []CursorKind {
	return []CursorKind{AtEvent, AtTurn, AtStep, AtApproval, AtCompaction, AtCheckpoint}
}

// Cursor is S3's resume cursor: a place in a session's log to go on from. It is
// opaque to clients.
type Cursor struct {
	Kind    CursorKind
	Session SessionID
	Seq     Seq
}

// String is the cursor's form, <kind>:<session>:<seq>.
func (c Cursor) String() string {
	return string(c.Kind) + ":" + string(c.Session) + ":" + strconv.FormatUint(uint64(c.Seq), 10)
}

// ParseCursor is the inverse of [Cursor.String]; a session's id may have colons
// itself. Everything else is [ErrInvalid].
func ParseCursor(s string) (Cursor, error) {
	kind, rest, _ := strings.Cut(s, ":")
	colon := strings.LastIndexByte(rest, ':')
	if colon < 0 {
		return Cursor{}, fmt.Errorf("resume cursor %q is not kind:session:seq: %w", cutText(s, MaxID), ErrInvalid)
	}
	c := Cursor{Kind: CursorKind(kind), Session: SessionID(rest[:colon])}
	switch c.Kind {
	case AtEvent, AtTurn, AtStep, AtApproval, AtCompaction, AtCheckpoint:
	default:
		return Cursor{}, fmt.Errorf("resume cursor: there is no kind %q: %w", cutText(kind, MaxID), ErrInvalid)
	}
	if err := CheckID("resume cursor: session id", string(c.Session)); err != nil {
		return Cursor{}, err
	}
	seq, err := parseSeq(rest[colon+1:])
	if err != nil {
		return Cursor{}, fmt.Errorf("resume cursor %q has no position: %w", s, ErrInvalid)
	}
	c.Seq = seq
	return c, nil
}

// parseSeq reads a position in the one form that a position is written in.
func parseSeq(s string) (Seq, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 || s[0] < '1' || s[0] > '9' {
		return 0, ErrInvalid
	}
	return Seq(n), nil
}

// BranchAt is the place in id's history that S3's from_event_id or
// resume_cursor names; without either it is the end. That they are well formed
// and agree is checked here, that the place is in the history by whoever
// branches.
func BranchAt(id SessionID, eventID, cursor string) (*Branch, error) {
	b := &Branch{Session: id}
	if cursor != "" {
		c, err := ParseCursor(cursor)
		if err != nil {
			return nil, err
		}
		b.Seq, b.Cursor = c.Seq, cursor
	}
	if eventID == "" {
		return b, nil
	}
	of, seq, err := ParseEventID(eventID)
	if err != nil {
		return nil, err
	}
	if cursor != "" && seq != b.Seq {
		return nil, fmt.Errorf("event %s and resume cursor %s are different places: %w", eventID, cursor, ErrInvalid)
	}
	if cursor == "" {
		b.Cursor = Cursor{AtEvent, of, seq}.String()
	}
	b.Seq = seq
	return b, nil
}
