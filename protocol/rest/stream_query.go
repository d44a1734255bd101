package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"harness"
)

// subscription is what a client wants to be shown.
type subscription struct {
	session harness.SessionID
	from    cursor
	want    filter
	until   until
}

// parseSubscription reads all that a request for a stream says. Errors wrap
// ErrInvalid.
func parseSubscription(r *http.Request, id harness.SessionID) (subscription, error) {
	from, err := parseCursor(r, id)
	if err != nil {
		return subscription{}, err
	}
	q := r.URL.Query()
	want, err := parseFilter(q)
	if err != nil {
		return subscription{}, err
	}
	end, err := parseUntil(q)
	if err != nil {
		return subscription{}, err
	}
	return subscription{id, from, want, end}, nil
}

// cursor is where a client says it is.
type cursor struct {
	after harness.Seq // it has everything up to here
	said  string      // how it said so, if it was the browser that did
	wrong reason      // why that place is none
}

// reason says why a cursor cannot be served, in the words of a reset.
type reason string

const (
	cursorInvalid reason = "cursor_invalid" // not a position at all
	cursorForeign reason = "cursor_foreign" // of another session
	cursorAhead   reason = "cursor_ahead"   // the log is not that long
)

// cursorAfter begins behind seq.
func cursorAfter(seq harness.Seq) cursor { return cursor{after: seq} }

// parseCursor reads ?after= or, without it, Last-Event-ID: a position, or an
// event's id. One of the query that is wrong is refused. One of the header
// cannot be: an EventSource does not see an answer other than 200 and would
// never come back, so it is told in the stream.
func parseCursor(r *http.Request, id harness.SessionID) (cursor, error) {
	if q := r.URL.Query(); q.Has("after") {
		seq, wrong := parsePlace(q.Get("after"), id)
		if wrong != "" {
			return cursor{}, fmt.Errorf("after: %q is not a position in session %s: %w", clip(q.Get("after")), id, harness.ErrInvalid)
		}
		return cursor{after: seq}, nil
	}
	said := r.Header.Get("Last-Event-ID")
	if said == "" {
		return cursor{}, nil
	}
	seq, wrong := parsePlace(said, id)
	return cursor{seq, clip(said), wrong}, nil
}

// parsePlace reads 17 or ses_x.17.
func parsePlace(s string, id harness.SessionID) (harness.Seq, reason) {
	of := id
	if dot := strings.LastIndexByte(s, '.'); dot >= 0 {
		var err error
		if of, err = harness.ParseSessionID(s[:dot]); err != nil {
			return 0, cursorInvalid
		}
		s = s[dot+1:]
	}
	seq, err := strconv.ParseUint(s, 10, 63) // which takes no sign
	switch {
	case err != nil:
		return 0, cursorInvalid
	case of != id:
		return 0, cursorForeign
	}
	return harness.Seq(seq), ""
}

// clip bounds what is said back to a client.
func clip(s string) string {
	return strings.ToValidUTF8(strings.Clone(s[:min(len(s), harness.MaxID+21)]), "\ufffd")
}

// until says what ends a stream, beside its client: nothing, the end of the
// session, or the end of a turn.
type until struct {
	terminal bool
	turn     harness.TurnID
}

// untilTurn ends a stream behind that turn's turn_end.
func untilTurn(t harness.TurnID) until { return until{turn: t} }

// parseUntil reads ?until=terminal.
func parseUntil(q url.Values) (until, error) {
	switch v := q.Get("until"); v {
	case "":
		return until{}, nil
	case "terminal":
		return until{terminal: true}, nil
	default:
		return until{}, fmt.Errorf("until: %q is not terminal: %w", clip(v), harness.ErrInvalid)
	}
}
