package transcript_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"harness"
	"harness/archive/transcript"
	"harness/internal/redact"
)

// spoken is a line of Claude Code: who says it, its id and its parent's, and more
// fields before the message.
func spoken(role, id, parent, more, content string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	stop := ""
	if role == "assistant" {
		stop = `,"id":"m` + id + `","stop_reason":"end_turn"`
	}
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"s1","version":"2","cwd":"/p","timestamp":"2026-01-02T03:04:05.678Z"%s,"message":{"role":%q%s,"content":%s}}`+"\n",
		role, id, up, more, role, stop, content)
}

const meta = `{"type":"session_meta","timestamp":"2026-01-02T03:04:05.678Z","payload":{"id":"s1","cwd":"/p","cli_version":"1"}}` + "\n"

// wrote is a line of Codex.
func wrote(kind, payload string) string {
	return fmt.Sprintf(`{"type":%q,"timestamp":"2026-01-02T03:04:06.000Z","payload":%s}`+"\n", kind, payload)
}

// TestOddTranscripts are read for what they are.
func TestOddTranscripts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reader, text string
		want         []string
		not          string
	}{
		"taken_back": {"claude", spoken("user", "1", "", "", `"one"`) + spoken("assistant", "2", "1", "", `"wrong"`) + spoken("user", "3", "", "", `"two"`) + spoken("assistant", "4", "3", "", `"right"`),
			[]string{`"text":"two"`, `"text":"right"`, "lost 2 message that was taken back"}, "wrong"},
		"interrupted": {"claude", spoken("user", "1", "", "", `"one"`) + spoken("assistant", "2", "1", "", `[{"type":"tool_use","id":"c","name":"Bash","input":{}}]`) + spoken("user", "3", "2", "", `[{"type":"text","text":"[Request interrupted by user for tool use]"}]`),
			[]string{`"status":"cancelled","reason":"user"`, `"reason":"interrupted"`}, "Request"},
		"api_error": {"claude", spoken("user", "1", "", "", `"one"`) + spoken("assistant", "2", "1", `,"isApiErrorMessage":true`, `[{"type":"text","text":"API Error: 529"}]`),
			[]string{`error {"message":"API Error: 529"`, `"status":"error"`}, "token"},
		"subagent": {"claude", spoken("user", "1", "", "", `"one"`) + spoken("assistant", "2", "1", `,"isSidechain":true`, `"inner"`) + spoken("assistant", "3", "1", "", `"outer"`),
			[]string{"outer", "lost 1 message of a subagent"}, "inner"},
		"image": {"claude", spoken("user", "1", "", "", `[{"type":"image","source":{}},{"type":"text","text":"look"}]`) + spoken("assistant", "2", "1", "", `[{"type":"redacted_thinking"},{"type":"text","text":"yes"}]`),
			[]string{"lost 1 image", "lost 1 redacted_thinking", `"text":"look"`}, ""},
		"no_end": {"claude", spoken("user", "1", "", "", `"one"`),
			[]string{`"status":"cancelled","reason":"the transcript does not have its end"`}, ""},
		"torn": {"claude", spoken("user", "1", "", "", `"one"`) + spoken("assistant", "2", "1", "", `"two"`) + `{"type":"assis`,
			[]string{"lost 1 torn line", `"status":"completed"`}, ""},
		"orphan": {"claude", spoken("assistant", "2", "gone", "", `"two"`) + spoken("user", "3", "2", "", `[{"type":"tool_result","tool_use_id":"nobody","content":"x"}]`),
			[]string{"turn_start", "lost 1 result without a call"}, "user_message"},
		"circle": {"claude", spoken("user", "1", "2", "", `"one"`) + spoken("assistant", "2", "1", "", `"two"`), []string{"two"}, ""},
		"long_output": {"claude", spoken("user", "1", "", "", `"one"`) + spoken("assistant", "2", "1", "", `[{"type":"tool_use","id":"c","name":"Bash","input":{"x":"`+strings.Repeat("y", 70_000)+`"}}]`) + spoken("user", "3", "2", "", `[{"type":"tool_result","tool_use_id":"c","content":"`+strings.Repeat("ü", 70_000)+`"}]`),
			[]string{"lost 1 long output", "lost 1 long input", "bytes were cut", `{"cut_bytes":`}, strings.Repeat("ü", 40_000)},
		"steered": {"codex", meta + wrote("event_msg", `{"type":"task_started"}`) + wrote("event_msg", `{"type":"user_message","message":"one"}`) + wrote("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"half"}]}`) +
			wrote("event_msg", `{"type":"user_message","message":"stop that"}`) + wrote("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"stopped"}]}`) + wrote("event_msg", `{"type":"task_complete"}`),
			[]string{`"source":"steer"`, `"status":"completed"`}, ""},
		"aborted": {"codex", meta + wrote("event_msg", `{"type":"task_started"}`) + wrote("event_msg", `{"type":"user_message","message":"one"}`) + wrote("response_item", `{"type":"function_call","name":"shell","call_id":"c","arguments":"not json"}`) + wrote("event_msg", `{"type":"turn_aborted","reason":"interrupted"}`),
			[]string{`"status":"cancelled","reason":"interrupted"`, `{"input":"not json"}`}, ""},
		"other_tools": {"codex", meta + wrote("event_msg", `{"type":"user_message","message":"one"}`) + wrote("response_item", `{"type":"custom_tool_call","name":"apply_patch","call_id":"c","input":"*** Begin"}`) + wrote("response_item", `{"type":"custom_tool_call_output","call_id":"c","output":{"content":"bad","success":false}}`) +
			wrote("response_item", `{"type":"web_search_call","id":"w","status":"completed","action":{"query":"q"}}`) + wrote("response_item", `{"type":"brand_new"}`) + wrote("compacted", `{"message":"They spoke."}`),
			[]string{`"name":"apply_patch"`, `"status":"error"`, `"name":"web_search","arguments":{"query":"q"}`, "lost 1 item brand_new", `context_compacted`}, ""},
		"failed": {"codex", meta + wrote("event_msg", `{"type":"user_message","message":"one"}`) + wrote("event_msg", `{"type":"error","message":"no model"}`),
			[]string{`error {"message":"no model"`, `"status":"error"`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := readers[c.reader](strings.NewReader(c.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			folds(t, s)
			got := tell(s)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("it does not say %s", w)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) || t.Failed() {
				t.Errorf("it is\n%.5000s", got)
			}
		})
	}
}

// TestBadTranscriptsAreRefused with where they are bad.
func TestBadTranscriptsAreRefused(t *testing.T) {
	t.Parallel()
	good := spoken("user", "1", "", "", `"one"`)
	for name, c := range map[string]struct {
		reader, text, word string
		is                 error
	}{
		"empty":             {"claude", "", "no conversation", harness.ErrInvalid},
		"not_JSON":          {"claude", good + "hello\n" + good, "line 2", harness.ErrCorrupt},
		"first_line_cut":    {"claude", `{"type":`, "line 1", harness.ErrCorrupt},
		"no_object":         {"claude", good + "[1]\n", "line 2", harness.ErrCorrupt},
		"a_key_twice":       {"claude", good + `{"type":"user","type":"user"}` + "\n", "line 2", harness.ErrCorrupt},
		"wrong_kind":        {"claude", `{"type":7}` + "\n", "line 1", harness.ErrCorrupt},
		"somebody_elses":    {"claude", `{"hello":1}` + "\n", "no type", harness.ErrInvalid},
		"only_notes":        {"claude", `{"type":"mode"}` + "\n", "no conversation", harness.ErrInvalid},
		"a_path_for_an_id":  {"claude", strings.ReplaceAll(good, `"s1"`, `"../../x"`), "names its session", harness.ErrInvalid},
		"no_id":             {"claude", strings.ReplaceAll(good, `"s1"`, `""`), "names its session", harness.ErrInvalid},
		"a_rollout":         {"claude", meta, "no conversation", harness.ErrInvalid},
		"codex_empty":       {"codex", "", "no conversation", harness.ErrInvalid},
		"codex_no_meta":     {"codex", wrote("event_msg", `{"type":"user_message","message":"one"}`), "session_meta", harness.ErrInvalid},
		"codex_of_claude":   {"codex", good, "session_meta", harness.ErrInvalid},
		"codex_only_a_head": {"codex", meta, "no conversation", harness.ErrInvalid},
		"codex_wrong_kind":  {"codex", meta + wrote("event_msg", `{"type":[]}`), "line 2", harness.ErrCorrupt},
		"codex_no_payload":  {"codex", meta + wrote("response_item", `"x"`), "line 2", harness.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := readers[c.reader](strings.NewReader(c.text), nil)
			if s != nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.word) {
				t.Errorf("it is %v, %v", s, err)
			}
		})
	}
}

// TestSecretsOfATranscriptAreNotKept, wherever they stand.
func TestSecretsOfATranscriptAreNotKept(t *testing.T) {
	t.Parallel()
	const known, looks = "hunter2-hunter2-hunter2", "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ"
	r, err := redact.New(known)
	if err != nil {
		t.Fatal(err)
	}
	text := spoken("user", "1", "", "", `"it is `+known+`"`) +
		spoken("assistant", "2", "1", "", `[{"type":"thinking","thinking":"`+looks+`"},{"type":"text","text":"so `+known+` it is"},{"type":"tool_use","id":"c","name":"Bash","input":{"command":"echo `+looks+`"}}]`) +
		spoken("user", "3", "2", "", `[{"type":"tool_result","tool_use_id":"c","content":"`+known+`"}]`)
	s, err := readers["claude"](strings.NewReader(text), &transcript.Options{Redact: r})
	if err != nil {
		t.Fatal(err)
	}
	if got := tell(s); strings.Contains(got, known) || strings.Contains(got, looks) || strings.Count(got, redact.Mark) < 6 {
		t.Errorf("it is\n%s", got)
	}
}

// FuzzRead holds whatever is read to be a log.
func FuzzRead(f *testing.F) {
	f.Add(spoken("user", "1", "", "", `"one"`)+spoken("assistant", "2", "1", "", `[{"type":"tool_use","id":"c","name":"Bash","input":{}}]`), false)
	f.Add(meta+wrote("event_msg", `{"type":"user_message","message":"one"}`), true)
	f.Fuzz(func(t *testing.T, text string, rollout bool) {
		name := "claude"
		if rollout {
			name = "codex"
		}
		s, err := readers[name](strings.NewReader(text), nil)
		if err != nil {
			return
		}
		again, err := readers[name](strings.NewReader(text), nil)
		if err != nil || tell(again) != tell(s) {
			t.Fatal("read again it differs")
		}
		folds(t, s)
	})
}
