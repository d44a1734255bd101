package browser

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// streams is how many event streams the server has open.
func (h *house) streams() string {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), "GET", h.url+"/metrics", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `harness_watchers{protocol="sse"} `)
	n, _, _ := strings.Cut(rest, "\n")
	return n
}

// TestTabsShareOneStream: browsers allow six connections to a server, so that
// the sixth tab must not stand still; and when the tab with the stream goes,
// another has it.
func TestTabsShareOneStream(t *testing.T) {
	inFull(t)
	t.Parallel()
	h := newHouse(t)
	first := h.visit(t, "/")
	var others []*page
	for range 7 {
		others = append(others, first.tab("/"))
	}
	last := others[len(others)-1]
	last.see(`[data-testid="lamp"][data-phase="open"]`)
	if n := h.streams(); n != "1" {
		t.Errorf("eight tabs have %s streams", n)
	}
	h.session("Seen by all", "", nil)
	for _, p := range others {
		p.read("Seen by all")
	}
	first.walk("/settings/about") // the one that has the stream
	first.goTo("/login")          // … leaves
	h.session("Seen after that", "", nil)
	last.read("Seen after that")
	first.see(`[data-testid="lamp"][data-phase="open"]`)
	for end := time.Now().Add(patience); h.streams() != "1"; <-time.After(pollEvery) {
		if time.Now().After(end) {
			t.Fatalf("%s streams are left", h.streams())
		}
	}
}
