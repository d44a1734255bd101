package rest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"harness"
	"harness/archive"
)

// An export in the middle of a turn is whole, and a beginning of what the log
// comes to.
func TestAnExportOfARunningSessionIsABeginningOfItsLog(t *testing.T) {
	t.Parallel()
	s := serve(t, "repeat 400\nsay x\nthink y\nwait 100us\nend\n")
	id := s.chat()
	s.say(id, "go")
	var taken [][]byte
	for running := true; running; {
		st, err := s.k.At(t.Context(), harness.SessionID(id), 0)
		if err != nil {
			t.Fatal(err)
		}
		running = st.Turn != nil
		taken = append(taken, s.must(200, nil, "GET", "/sessions/"+id+"/export", "").body)
	}
	log := func(text []byte) (lines []string) {
		for e, err := range archive.Read(bytes.NewReader(text)) {
			if err != nil {
				t.Fatalf("a damaged export: %v", err)
			}
			lines = append(lines, string(e.JSON()))
		}
		return lines
	}
	end := log(taken[len(taken)-1])
	for i, text := range taken {
		got := log(text)
		if len(got) > len(end) || strings.Join(got, "\n") != strings.Join(end[:len(got)], "\n") {
			t.Fatalf("export %d of %d events is not a beginning of the %d", i, len(got), len(end))
		}
	}
}

// Who follows a session hears what an import adds to it.
func TestAnImportIsHeardByThoseWhoFollow(t *testing.T) {
	t.Parallel()
	s, other := serve(t, "say hello"), serve(t, "")
	id := s.chat()
	export := func() string { return string(s.must(200, nil, "GET", "/sessions/"+id+"/export", "").body) }
	other.must(201, nil, "POST", "/sessions/import", export(), jsonl...)
	r := other.request("GET", "/sessions/"+id+"/events/stream", "")
	defer r.Body.Close()
	s.turn(id, "go")
	other.must(201, nil, "POST", "/sessions/import", export(), jsonl...)
	for lines := bufio.NewScanner(r.Body); ; {
		if !lines.Scan() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
		if lines.Text() == "event: turn_end" {
			return
		}
	}
}

// An archive that is whole but tells a history that cannot be is refused.
func TestAnImpossibleHistoryIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, "say hello")
	id := s.chat()
	var branch row
	s.must(201, &branch, "POST", "/chat/sessions/"+id+"/branch", `{}`)
	text := s.must(200, nil, "GET", "/sessions/"+branch.SessionID+"/export", "").body
	var lines []string
	for e, err := range archive.Read(bytes.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(e.JSON()))
	}
	again := strings.NewReplacer(`"seq":1,`, fmt.Sprintf(`"seq":%d,`, len(lines)+1), id+".1", fmt.Sprintf("%s.%d", id, len(lines)+1)).Replace(lines[0])
	other := serve(t, "")
	other.refused(400, "invalid", "", "POST", "/sessions/import", string(sealed(t, append(lines, again))), jsonl...)
}

// sealed is an archive of these events.
func sealed(t testing.TB, lines []string) []byte {
	t.Helper()
	var b bytes.Buffer
	err := archive.Write(&b, func(yield func(harness.Event, error) bool) {
		for _, line := range lines {
			if e, err := harness.DecodeEvent([]byte(line)); !yield(e, err) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
