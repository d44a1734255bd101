package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"harness"
)

// Whatever clients say, a cursor is a position of this session, or refused, or
// told to be none; and what is said back is short and text.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{"", "0", "17", "ses_x.17", "ses_y.17", "-1", "+1", "1e9", "18446744073709551615", ".5", "ses_x.", "ses_x.ses_x.1", "\xff", "1\n2", strings.Repeat("9", 400)} {
		f.Add(s, s)
	}
	const id = harness.SessionID("ses_x")
	f.Fuzz(func(t *testing.T, query, header string) {
		r := &http.Request{URL: &url.URL{RawQuery: "after=" + url.QueryEscape(query)}, Header: http.Header{}}
		c, err := parseCursor(r, id)
		switch {
		case err != nil:
			if !errors.Is(err, harness.ErrInvalid) || len(err.Error()) > 2000 || c != (cursor{}) {
				t.Errorf("?after=%q: %v and %v", query, c, err)
			}
		case !spells(query, id, c.after) || c.said != "" || c.wrong != "":
			t.Errorf("?after=%q is %v", query, c)
		}
		r = &http.Request{URL: &url.URL{}, Header: http.Header{"Last-Event-Id": {header}}}
		c, err = parseCursor(r, id)
		switch {
		case err != nil:
			t.Errorf("Last-Event-ID %q is refused: %v", header, err)
		case header == "":
			if c != (cursor{}) {
				t.Errorf("nothing is %v", c)
			}
		case c.wrong == "" && !spells(header, id, c.after), c.wrong != "" && c.after != 0, c.said == "", len(c.said) > 600:
			t.Errorf("Last-Event-ID %q is %v", header, c)
		}
		if b := appendReset(nil, c, 9); !utf8.Valid(b) || strings.Count(string(b), "\n") != 3 || strings.Contains(string(b), "\r") {
			t.Errorf("reset %q", b)
		}
	})
}

// spells reports whether s is a way to write a position; zeros may lead.
func spells(s string, id harness.SessionID, seq harness.Seq) bool {
	s = strings.TrimPrefix(s, string(id)+".")
	return strings.TrimLeft(s, "0") == strings.TrimLeft(fmt.Sprint(seq), "0") && s != ""
}
