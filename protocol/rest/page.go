package rest

import (
	"context"
	"strconv"
	"strings"
	"time"

	"harness"
)

// Bounds of a page.
const (
	pageDefault = 100
	pageMax     = 1000
)

// pageLimit is how many rows a page has.
func pageLimit(asked int64) int {
	if asked == 0 {
		return pageDefault
	}
	return int(min(asked, pageMax))
}

// mark names a row by its place in the order, so that a session that moved
// meanwhile does not take the list with it.
func mark(s harness.Summary) string {
	return strconv.FormatInt(s.Updated.UnixMilli(), 10) + "." + string(s.Session)
}

// parseMark is the row that a page begins behind; none at the beginning.
func parseMark(s string) (*harness.Summary, error) {
	if s == "" {
		return nil, nil
	}
	ms, id, _ := strings.Cut(s, ".")
	at, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || harness.CheckID("cursor", id) != nil {
		return nil, badField("cursor", "is none of ours")
	}
	return &harness.Summary{Session: harness.SessionID(id), Updated: time.UnixMilli(at)}, nil
}

// rows is a page of a list, and the cursor of the next if there is one.
func (s *Server) rows(ctx context.Context, f harness.Filter, limit int) (list []harness.Summary, next string, err error) {
	f.Limit = limit + 1
	for sum, err := range s.k.List(ctx, f) {
		if err != nil {
			return nil, "", err
		}
		if len(list) == limit {
			return list, mark(list[limit-1]), nil
		}
		list = append(list, sum)
	}
	return list, "", nil
}
