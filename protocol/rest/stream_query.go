package rest

import (
	"fmt"
	"net/http"
	"net/url"

	"harness"
)

// subscription is what a client wants to be shown.
type subscription struct {
	session harness.SessionID
	from    cursor
	want    filter
	until   until
	seat    *seat // nil: it is taken when the stream begins
	health  bool  // not the events, but what they say about the session's health
}

// parseSubscription reads all that a request for a stream says. Errors wrap
// ErrInvalid.
func parseSubscription(r *http.Request, id harness.SessionID) (subscription, error) {
	q := r.URL.Query()
	want, err := parseFilter(q)
	if err != nil {
		return subscription{}, err
	}
	end, err := parseUntil(q)
	if err != nil {
		return subscription{}, err
	}
	return subscription{session: id, from: parseCursor(r), want: want, until: end}, nil
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
		return until{}, fmt.Errorf("until: %q is not terminal: %w", v, harness.ErrInvalid)
	}
}
