package rest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"harness"
)

// cursor is where a client says it is.
type cursor struct {
	after   harness.Seq       // it has everything up to here
	of      harness.SessionID // whose event that is, if it said so
	said    string            // in its own words, cut short
	browser bool              // it was one that said so
	wrong   reason            // why that place is none
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

// parseCursor reads Last-Event-ID or, without it, ?after=. The header wins: a
// browser that comes back sends its last id to the address that it began with.
func parseCursor(r *http.Request) cursor {
	if said := r.Header.Get("Last-Event-ID"); said != "" {
		c := parsePlace(said)
		c.browser = true
		return c
	}
	if q := r.URL.Query(); q.Has("after") {
		return parsePlace(q.Get("after"))
	}
	return cursor{}
}

// parsePlace reads 17 or ses_x.17.
func parsePlace(s string) cursor {
	c := cursor{said: strings.ToValidUTF8(strings.Clone(s[:min(len(s), harness.MaxID+21)]), "\ufffd")}
	if dot := strings.LastIndexByte(s, '.'); dot >= 0 {
		of, err := harness.ParseSessionID(s[:dot])
		if err != nil {
			c.wrong = cursorInvalid
			return c
		}
		c.of, s = of, s[dot+1:]
	}
	seq, err := strconv.ParseUint(s, 10, 63) // which takes no sign
	if err != nil {
		c.wrong = cursorInvalid
		return c
	}
	c.after = harness.Seq(seq)
	return c
}

// find checks that a client's place is one in the log of sum's session; events
// that a branch has of its parents are there under their own ids. A place that
// is none is refused with ErrInvalid, but a browser's: it does not see an
// answer other than 200 and would never come back, so it is told in the stream.
func (f *feeds) find(ctx context.Context, c *cursor, sum harness.Summary) error {
	switch {
	case c.wrong != "":
	case c.of != "" && c.of != sum.Session:
		of, err := f.owner(ctx, sum, c.after)
		if err != nil {
			return err
		}
		if of != c.of {
			c.wrong = cursorForeign
		}
	case c.after > sum.Seq:
		c.wrong = cursorAhead
	}
	if c.wrong != "" && !c.browser {
		return fmt.Errorf("after: %q is not a position in session %s, which ends at %d: %w", c.said, sum.Session, sum.Seq, harness.ErrInvalid)
	}
	return nil
}

// owner is the session that wrote an event of sum's log; none if there is no
// such event.
func (f *feeds) owner(ctx context.Context, sum harness.Summary, seq harness.Seq) (harness.SessionID, error) {
	if seq == 0 || seq > sum.Seq {
		return "", nil
	}
	for e, err := range f.k.Read(ctx, sum.Session, seq-1) {
		return e.Session, err
	}
	return "", nil
}
