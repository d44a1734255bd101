package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"harness"
	"harness/kernel"
)

// Whatever clients say, a cursor is a position, or said to be none; and what is
// said back is short and text.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{"", "0", "17", "ses_x.17", "ses_y.17", "-1", "+1", "1e9", "18446744073709551615", ".5", "ses_x.", "ses_x.ses_x.1", "\xff", "1\n2", strings.Repeat("9", 400)} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, query, header string) {
		for _, r := range []*http.Request{
			{URL: &url.URL{RawQuery: "after=" + url.QueryEscape(query)}, Header: http.Header{}},
			{URL: &url.URL{RawQuery: "after=1"}, Header: http.Header{"Last-Event-Id": {header}}},
		} {
			said, c := query, parseCursor(r)
			if header != "" && len(r.Header) > 0 {
				said = header
			} else if len(r.Header) > 0 {
				said = "1"
			}
			switch {
			case c.browser != (header != "" && len(r.Header) > 0):
				t.Errorf("%q: who said it is lost", said)
			case c.wrong == "" && !spells(said, c.of, c.after), c.wrong != "" && c.after != 0, len(c.said) > 600:
				t.Errorf("%q is %v", said, c)
			}
			if b := appendReset(nil, c, 9); !utf8.Valid(b) || strings.Count(string(b), "\n") != 3 || strings.Contains(string(b), "\r") {
				t.Errorf("reset %q", b)
			}
		}
	})
}

// spells reports whether s is a way to write a position; zeros may lead.
func spells(s string, id harness.SessionID, seq harness.Seq) bool {
	if id != "" {
		s = strings.TrimPrefix(s, string(id)+".")
	}
	return strings.TrimLeft(s, "0") == strings.TrimLeft(fmt.Sprint(seq), "0") && s != ""
}

// An event that a branch has of its parent is a place in the branch by the
// parent's id too; an event that the parent got later is none.
func TestAParentsEventIsAPlaceInTheBranch(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		h := build(t, st, "echo", kernel.Options{}, feedOptions{})
		parent := h.create("")
		h.submit(parent, "one")
		h.asleep()
		n := len(h.log(parent, everything))
		branch, err := h.k.Create(t.Context(), harness.NewSession{From: &harness.Branch{Session: parent, Seq: harness.Seq(n - 1)}})
		if err != nil {
			t.Fatal(err)
		}
		h.submit(branch, "two")
		h.asleep()
		all := h.log(branch, everything)
		for _, place := range []string{fmt.Sprintf("%s.%d", parent, 2), fmt.Sprintf("%s.%d", branch, 2), fmt.Sprintf("%s.%d", branch, len(all)-1)} {
			seq := number(place[strings.LastIndexByte(place, '.')+1:])
			same(t, place, []heard{h.listen(string(branch) + "?after=" + place).must()}, all[seq:seq+1])
		}
		for _, place := range []string{fmt.Sprintf("%s.%d", parent, n), string(parent) + ".0", fmt.Sprintf("%s.%d", parent, 10*n)} {
			if l, err := listen(t, h.addr, string(branch)+"?after="+place, ""); err != nil || l.resp.StatusCode != 400 {
				t.Errorf("%s: %v %v", place, l, err)
			}
			if e := h.listen(string(branch), "Last-Event-ID: "+place).must(); e.name != "reset" || !strings.Contains(e.data, string(cursorForeign)) {
				t.Errorf("%s: %v", place, e)
			}
		}
	})
}
