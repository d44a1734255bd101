package rest_test

import (
	"io"
	"strings"
	"testing"
)

// Deleting a session ends its open streams, which are told why: of one that is
// awake, and of one that sleeps and was never woken.
func TestADeletedSessionEndsItsStreams(t *testing.T) {
	t.Parallel()
	s, other := serve(t, "say hello"), serve(t, "say hello")
	awake, asleep := s.chat(), other.chat()
	s.turn(awake, "go")
	other.turn(asleep, "go")
	archive := other.must(200, nil, "GET", "/sessions/"+asleep+"/export", "")
	s.must(201, nil, "POST", "/sessions/import", string(archive.body), "Content-Type", "application/jsonl")
	for _, id := range []string{awake, asleep} {
		var open []io.Reader
		for _, query := range []string{"", "?after=3", "?types=usage", "?until=terminal"} {
			r := s.request("GET", "/sessions/"+id+"/events/stream"+query, "")
			defer r.Body.Close()
			if r.StatusCode != 200 {
				t.Fatal(r.Status)
			}
			open = append(open, r.Body)
		}
		s.must(204, nil, "DELETE", "/sessions/"+id, "")
		for i, body := range open {
			text, err := io.ReadAll(body)
			if err != nil {
				t.Fatal(err)
			}
			blocks := strings.Split(strings.TrimSuffix(string(text), "\n\n"), "\n\n")
			last := blocks[len(blocks)-1]
			if !strings.Contains(last, "event: error\n") || !strings.Contains(last, `"code":"not_found"`) || strings.Contains(last, "id: ") {
				t.Errorf("stream %d of %s ends with %q", i, id, last)
			}
		}
		s.refused(404, "not_found", "", "GET", "/sessions/"+id+"/events/stream", "")
		s.refused(404, "not_found", "", "DELETE", "/sessions/"+id, "")
	}
}
