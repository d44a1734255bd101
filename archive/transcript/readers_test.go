package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/archive/claude"
	"harness/archive/codex"
	"harness/archive/transcript"
)

// readers are those of the programs, by their names.
var readers = map[string]func(io.Reader, *transcript.Options) (*transcript.Session, error){"claude": claude.Read, "codex": codex.Read}

// tell is a session in words, without its times and names.
func tell(s *transcript.Session) string {
	var b strings.Builder
	for _, e := range s.Events {
		p, err := json.Marshal(e.Payload)
		if err != nil {
			panic(err)
		}
		text := strings.ReplaceAll(string(p), strings.TrimPrefix(string(s.ID), harness.SessionPrefix), "ID")
		fmt.Fprintf(&b, "%s %s\n", e.Type(), text)
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Lost)) {
		fmt.Fprintf(&b, "lost %d %s\n", s.Lost[kind], kind)
	}
	return b.String()
}

// TestRecordedTranscriptsAreRead as they were when they were recorded. UPDATE=1
// records them again, where the programs are installed.
func TestRecordedTranscriptsAreRead(t *testing.T) {
	t.Parallel()
	for _, r := range recordings {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			dir := "../" + r.name + "/testdata/"
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(dir+"session.jsonl", short(t, r.record(t)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			b, err := os.ReadFile(dir + "session.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			s, err := readers[r.name](bytes.NewReader(b), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := tell(s)
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(dir+"session.txt", []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(dir + "session.txt"); err != nil || string(want) != got {
				t.Errorf("it is\n%s\n%v", got, err)
			}
			folds(t, s)
		})
	}
}

// folds checks that the events are a log: in order, and with a state at rest.
func folds(t *testing.T, s *transcript.Session) {
	t.Helper()
	var st harness.State
	for i, e := range s.Events {
		if e.Seq != harness.Seq(i+1) || i > 0 && e.Time.Before(s.Events[i-1].Time) {
			t.Fatalf("event %d is %d of %s", i+1, e.Seq, e.Time)
		}
		st.Apply(e)
	}
	if st.Turn != nil || len(st.Pending) > 0 || st.Session != s.ID {
		t.Errorf("the session is not at rest: %+v", st.Turn)
	}
	for _, m := range st.Messages {
		for _, c := range m.Calls {
			if c.Status == harness.CallRunning {
				t.Errorf("call %s has no end", c.ID)
			}
		}
	}
}

// TestWhatTheRealProgramsWriteIsRead is the recordings, as these programs would
// write them today.
func TestWhatTheRealProgramsWriteIsRead(t *testing.T) {
	t.Parallel()
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 runs the real programs")
	}
	for _, r := range recordings {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s, err := readers[r.name](bytes.NewReader(r.record(t)), nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile("../" + r.name + "/testdata/session.txt")
			if err != nil {
				t.Fatal(err)
			}
			if got := said(tell(s)); got != said(string(want)) {
				t.Errorf("it is\n%s\nwant\n%s", got, said(string(want)))
			}
		})
	}
}

// said is the conversation of a telling, without what differs from run to run.
func said(told string) string {
	var b strings.Builder
	for line := range strings.Lines(told) {
		kind, _, _ := strings.Cut(line, " ")
		switch kind {
		case "user_message", "token", "thinking", "tool_call", "turn_end":
			b.WriteString(line)
		case "tool_result", "tool_outcome", "turn_start", "context_compacted", "response":
			b.WriteString(kind + "\n")
		}
	}
	return b.String()
}
