package egress_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"harness/egress"
)

// TestNobodyDisagreesWhereARequestEnds: whatever is hidden in a request, the
// provider sees the one request that was judged, or none.
func TestNobodyDisagreesWhereARequestEnds(t *testing.T) {
	t.Parallel()
	body := forms[0].body + "}"
	hidden := "DELETE /v1/files/x HTTP/1.1\r\nHost: api.anthropic.com\r\nX-Api-Key: x\r\n\r\n"
	for _, tc := range []struct {
		name string
		text func(head string) string // head ends with the token
		want []int
		sent int
	}{
		{"two requests, the second without a token", func(head string) string {
			return ask(head, "", body) + "GET /anthropic/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
		}, []int{200, 401}, 1},
		{"two requests, the second elsewhere", func(head string) string {
			return ask(head, "", body) + hidden
		}, []int{200, 403}, 1},
		{"a request in the rest of a body", func(head string) string {
			return fmt.Sprintf("%s\r\nContent-Length: %d\r\n\r\n%s%s", head, len(body), body, hidden)
		}, []int{200, 403}, 1},
		{"a request as a part of a body", func(head string) string {
			return ask(head, "", body+"\r\n\r\n"+hidden)
		}, []int{400}, 0},
		{"chunked", func(head string) string {
			return fmt.Sprintf("%s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(body), body)
		}, []int{411}, 0},
		{"length and chunked", func(head string) string {
			return fmt.Sprintf("%s\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s", head, 5+len(hidden), hidden)
		}, []int{411}, 0},
		{"chunked and length", func(head string) string {
			return fmt.Sprintf("%s\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(hidden), hidden)
		}, []int{411}, 0},
		{"chunked in disguise", func(head string) string {
			return fmt.Sprintf("%s\r\nTransfer-Encoding : chunked\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
		}, []int{400}, 0},
		{"chunked by another name", func(head string) string {
			return fmt.Sprintf("%s\r\nTransfer-Encoding: xchunked\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
		}, []int{501}, 0},
		{"two lengths", func(head string) string {
			return fmt.Sprintf("%s\r\nContent-Length: %d\r\nContent-Length: 1\r\n\r\n%s", head, len(body), body)
		}, []int{400}, 0},
		{"a length with a sign", func(head string) string {
			return fmt.Sprintf("%s\r\nContent-Length: +%d\r\n\r\n%s", head, len(body), body)
		}, []int{400}, 0},
		{"a header folded", func(head string) string {
			return fmt.Sprintf("%s\r\nX: a\r\n Content-Length: 1\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
		}, []int{200}, 1},
		{"a bare carriage return", func(head string) string {
			return fmt.Sprintf("%s\r\nX: a\rTransfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
		}, []int{400}, 0},
		{"a line break in a name", func(head string) string {
			return ask(strings.Replace(head, "/messages", "/messages%0d%0aX:1", 1), "", body)
		}, []int{403}, 0},
	} {
		t.Run(strings.ReplaceAll(tc.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			up := scripted(t)
			h := build(t, up.URL, egress.Options{})
			token := h.grant(t, egress.Grant{Provider: "anthropic"})
			head := "POST /anthropic/v1/messages HTTP/1.1\r\nHost: localhost:1\r\nX-Api-Key: " + token
			if got := h.talk(t, tc.text(head), len(tc.want)); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
			all := up.All()
			if len(all) != tc.sent {
				t.Fatalf("%d requests were sent, want %d: %+v", len(all), tc.sent, all)
			}
			for _, r := range all {
				if r.Path != "/v1/messages" || string(r.Body) != body || r.Header.Get("Content-Length") != fmt.Sprint(len(body)) {
					t.Errorf("sent %s %s %v", r.Path, r.Body, r.Header)
				}
			}
		})
	}
}
