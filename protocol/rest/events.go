package rest

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"harness"
)

type (
	eventQuery struct {
		ID    harness.SessionID `json:"id" rule:"required id"`
		After int64             `json:"after" rule:"min=0"`
		Limit int64             `json:"limit" rule:"min=1 max=1000"`
		Tier  string            `json:"tier" rule:"words=default|debug"`
		Types string            `json:"types" rule:"max=2048"`
	}
	eventPage struct {
		SessionID harness.SessionID `json:"session_id"`
		Events    []envelope        `json:"events"`
		Next      string            `json:"next_cursor,omitempty"` // the after of the next page
	}
	streamQuery struct {
		ID    harness.SessionID `json:"id" rule:"required id"`
		After string            `json:"after" rule:"max=192"`
		Tier  string            `json:"tier" rule:"words=default|debug"`
		Types string            `json:"types" rule:"max=2048"`
		Until string            `json:"until" rule:"words=terminal"`
	}
)

// envelope is an event in the log's own bytes.
type envelope []byte

// MarshalJSON is the bytes.
func (e envelope) MarshalJSON() ([]byte, error) { return e, nil }

// maxScanned bounds how many events one page looks at: a filter that chooses
// few of a long log answers with a short page and a cursor.
const maxScanned = 20_000

// maxPageBytes bounds the bytes of a page, up to its last event.
const maxPageBytes = 4 << 20

func (s *Server) listEvents(ctx context.Context, p *eventQuery) (eventPage, error) {
	want, err := parseFilter(url.Values{"tier": {p.Tier}, "types": {p.Types}})
	if err != nil {
		return eventPage{}, named(err)
	}
	sum, err := s.row(ctx, p.ID, "")
	if err != nil {
		return eventPage{}, err
	}
	if harness.Seq(p.After) > sum.Seq {
		return eventPage{}, badField("after", "the log ends at "+strconv.FormatUint(uint64(sum.Seq), 10))
	}
	page := eventPage{SessionID: p.ID, Events: []envelope{}}
	limit, scanned, size := pageLimit(p.Limit), 0, 0
	last := harness.Seq(p.After)
	for e, err := range s.k.Read(ctx, p.ID, last) {
		if err != nil {
			return eventPage{}, err
		}
		if len(page.Events) == limit || scanned == maxScanned || size > maxPageBytes {
			page.Next = strconv.FormatUint(uint64(last), 10)
			break
		}
		scanned++
		last = e.Seq
		if want.chooses(e) {
			page.Events, size = append(page.Events, e.JSON()), size+len(e.JSON())
		}
	}
	return page, nil
}

func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, p *streamQuery, _ *none) error {
	if err := acceptable(r, mediaEvents); err != nil {
		return err
	}
	sub, err := parseSubscription(r, p.ID)
	if err != nil {
		return named(err)
	}
	if err := s.feeds.serve(w, r, sub); err != nil {
		return named(err)
	}
	return nil
}

// named adds the name of the parameter to its refusal, whose text begins with
// it.
func named(err error) error {
	if harness.AsError(err) != harness.ErrInvalid {
		return err
	}
	p := *asProblem(err)
	field, _, _ := strings.Cut(p.Detail, ":")
	p.Field, _, _ = strings.Cut(field, " ")
	return &p
}

// streamEvent is a row of the inventory.
type streamEvent struct {
	Type      harness.Type `json:"type"`
	Source    string       `json:"source"`
	Persisted bool         `json:"persisted"`
	Role      string       `json:"role"`
	Tier      harness.Tier `json:"tier" rule:"words=default|debug"`
	Stream    string       `json:"stream" rule:"words=events|health"`
}

type streamEvents struct {
	Events []streamEvent `json:"events"`
}

func (s *Server) inventory(context.Context, *none) (streamEvents, error) {
	var list streamEvents
	for _, i := range harness.Inventory() {
		list.Events = append(list.Events, streamEvent{i.Type, i.Source, i.Persisted, i.Role, i.Tier, i.Stream})
	}
	return list, nil
}
