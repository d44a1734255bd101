package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"harness"
)

// recorded yields what the program said in each recording.
func recorded(tb testing.TB) map[string][][]byte {
	tb.Helper()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		tb.Fatalf("no recordings: %v", err)
	}
	all := make(map[string][][]byte)
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range a.Files {
			for line := range bytes.Lines(f.Data) {
				if said, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("< ")); ok {
					all[filepath.Base(name)+"/"+f.Name] = append(all[filepath.Base(name)+"/"+f.Name], said)
				}
			}
		}
	}
	return all
}

// TestTranslationKeepsItsPromises plays every recording into the translator
// alone: each call is told once, and has one outcome after it; nothing is
// unknown; the text is what the model said.
func TestTranslationKeepsItsPromises(t *testing.T) {
	t.Parallel()
	for name, lines := range recorded(t) {
		tr := newTranslator(ref{})
		open, closed := make(map[harness.CallID]bool), make(map[harness.CallID]bool)
		tokens := ""
		take := func(all []harness.Payload) {
			for _, p := range all {
				switch p := p.(type) {
				case *harness.Token:
					tokens += p.Text
				case *harness.ToolCall:
					if open[p.ToolCallID] || closed[p.ToolCallID] {
						t.Errorf("%s: call %s is told twice", name, p.ToolCallID)
					}
					open[p.ToolCallID] = true
				case *harness.ToolResult:
					if !open[p.ToolCallID] {
						t.Errorf("%s: a result of %s, which is not open", name, p.ToolCallID)
					}
				case *harness.ToolOutcome:
					if !open[p.ToolCallID] {
						t.Errorf("%s: an outcome of %s, which is not open", name, p.ToolCallID)
					}
					delete(open, p.ToolCallID)
					closed[p.ToolCallID] = true
				}
			}
		}
		for _, line := range lines {
			m, err := decode(line)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if q, ok := m.(*request); ok && q.Type == "control_request" {
				_, facts := tr.asks(q)
				take(facts)
				continue
			}
			take(tr.take(m))
		}
		take(tr.abandoned())
		if len(open) > 0 {
			t.Errorf("%s: calls without an outcome: %v", name, open)
		}
		if d := tr.strange(); d != nil {
			t.Errorf("%s: unknown: %s", name, d.Reason)
		}
		if tokens != tr.said.String() {
			t.Errorf("%s: told %q, said %q", name, tokens, tr.said.String())
		}
	}
}

// TestTextThatDidNotStreamIsToldOnce covers versions and answers without pieces.
func TestTextThatDidNotStreamIsToldOnce(t *testing.T) {
	t.Parallel()
	tr := newTranslator(ref{})
	got := ""
	for _, line := range []string{
		`{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"Whole."}]}}`,
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"b"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_start"}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hal"}}}`,
		`{"type":"assistant","message":{"id":"b","content":[{"type":"text","text":"Half."}]}}`,
		`{"type":"assistant","parent_tool_use_id":"t","message":{"id":"c","content":[{"type":"text","text":"not the main one"}]}}`,
	} {
		m, err := decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range tr.take(m) {
			if p, ok := p.(*harness.Token); ok {
				got += p.Text
			}
		}
	}
	if got != "Whole.\n\nHalf." {
		t.Errorf("told %q", got)
	}
}

// FuzzTheProgramCanSayAnything and the translator does not mind.
func FuzzTheProgramCanSayAnything(f *testing.F) {
	for _, lines := range recorded(f) {
		f.Add(bytes.Join(lines[:min(len(lines), 40)], []byte("\n")))
	}
	f.Fuzz(func(t *testing.T, all []byte) {
		tr := newTranslator(ref{})
		for line := range bytes.Lines(all) {
			m, err := decode(line)
			if err != nil {
				continue
			}
			if q, ok := m.(*request); ok {
				tr.asks(q)
				judgement(q, harness.Decision{Verdict: harness.Allow, Scope: harness.Always, Reason: "x"}, harness.Normal)
				describeCall(q.Request.ToolName, "", q.Request.Input)
				outside("/w", q.Request.BlockedPath, q.Request.Input)
				continue
			}
			tr.take(m)
		}
		tr.abandoned()
		tr.strange()
	})
}

func TestLinesAreCutWhereTheyEnd(t *testing.T) {
	t.Parallel()
	var got []string
	l := &lines{max: 8, take: func(b []byte, err error) {
		if err != nil {
			b = []byte(err.Error())
		}
		got = append(got, string(b))
	}}
	for _, s := range []string{"a\nb", "c\n\n \n12345678\n", "123456789", "\nlost\n"} {
		if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write(%q) = %d, %v", s, n, err)
		}
	}
	l.end()
	if want := "a|bc|12345678|a line of more than 8 bytes"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatIsAskedIsClassedByWhatItTouches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, blocked, input string
		want                 harness.Access
	}{
		{"Read", "", `{"file_path":"/etc/passwd"}`, harness.AccessRead},
		{"Write", "", `{"file_path":"/w/a"}`, harness.AccessEdit},
		{"Write", "", `{"file_path":"a/b"}`, harness.AccessEdit},
		{"Edit", "", `{"file_path":"/w/../x"}`, harness.AccessExecute}, // beyond the workspace
		{"Edit", "/elsewhere/a", `{"file_path":"/w/link"}`, harness.AccessExecute},
		{"Bash", "", `{}`, harness.AccessExecute},
		{"WebFetch", "", `{}`, harness.AccessNetwork},
		{"mcp__x__y", "", `{}`, harness.AccessNetwork},
		{"SomethingNew", "", `{}`, harness.AccessExecute},
		{question, "", `{}`, harness.AccessExecute},
	} {
		if got := access(c.tool, outside("/w", c.blocked, []byte(c.input))); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
}

func TestAnswersReachTheProgram(t *testing.T) {
	t.Parallel()
	ask := func(tool, input, suggestions string) *request {
		m, err := decode([]byte(`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"` + tool + `","input":` + input + `,"permission_suggestions":` + suggestions + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return m.(*request)
	}
	const rules = `[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"localSettings"},{"type":"setMode","mode":"acceptEdits"},{"type":"addRules","behavior":"deny"}]`
	const two = `{"questions":[{"question":"A?"},{"question":"B?"}]}`
	for _, c := range []struct {
		m    *request
		d    harness.Decision
		want string
	}{
		{ask("Bash", `{}`, rules), harness.Decision{Verdict: harness.Allow, Scope: harness.Once}, `{"behavior":"allow","updatedInput":{}}`},
		{ask("Bash", `{}`, rules), harness.Decision{Verdict: harness.Allow, Scope: harness.Always},
			`{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"behavior":"allow","destination":"session","rules":[{"toolName":"Bash"}],"type":"addRules"}]}`},
		{ask("Bash", `{}`, rules), harness.Decision{Verdict: harness.Deny, Reason: "no"}, `{"behavior":"deny","message":"no"}`},
		{ask("Bash", `{}`, rules), harness.Decision{}, `{"behavior":"deny","message":"This was not allowed."}`},
		{ask(question, two, `[]`), harness.Decision{Verdict: harness.Allow, Reason: "yes"}, `{"behavior":"allow","updatedInput":{"answers":{"A?":"yes","B?":"yes"},"questions":[{"question":"A?"},{"question":"B?"}]}}`},
		{ask(question, two, `[]`), harness.Decision{Verdict: harness.Allow, Reason: `{"A?":"1","B?":"2"}`}, `{"behavior":"allow","updatedInput":{"answers":{"A?":"1","B?":"2"},"questions":[{"question":"A?"},{"question":"B?"}]}}`},
		{ask(question, two, `[]`), harness.Decision{Verdict: harness.Allow}, `{"behavior":"allow","updatedInput":{"answers":{"A?":"(no answer: decide yourself)","B?":"(no answer: decide yourself)"},"questions":[{"question":"A?"},{"question":"B?"}]}}`},
		{ask(plan, `{}`, `[]`), harness.Decision{Verdict: harness.Allow}, `{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`},
	} {
		if got := encode(t, judgement(c.m, c.d, harness.AcceptEdits)); got != c.want {
			t.Errorf("%s, %+v:\n%s\nwant\n%s", c.m.Request.ToolName, c.d, got, c.want)
		}
	}
}

func TestResultsAreJudgedByTheirReason(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"subtype":"success","is_error":false,"terminal_reason":"completed"}`:                                        "",
		`{"subtype":"success","is_error":false,"terminal_reason":"aborted_streaming"}`:                                "",
		`{"subtype":"success","is_error":false}`:                                                                      "",
		`{"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":400,"result":"bad"}`:   "bad",
		`{"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":529,"result":"busy"}`:  "busy: temporary failure",
		`{"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":null,"result":"lost"}`: "lost: temporary failure",
		`{"subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns"}`:                                 "the turn reached the limit of max_turns",
		`{"subtype":"error_max_budget_usd","is_error":true,"terminal_reason":"budget_exhausted"}`:                     "the turn has used up its budget",
		`{"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["x"]}`:       "the turn was interrupted",
		`{"subtype":"error_during_execution","is_error":true,"errors":["a","b"]}`:                                     "a; b",
		`{"subtype":"error_something_new","is_error":true,"terminal_reason":"new_reason"}`:                            "the turn failed: error_something_new new_reason",
	} {
		m, err := decode([]byte(`{"type":"result",` + line[1:]))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := m.(*result).judge(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestWhatCannotChangeLiveNeedsAnotherProcess(t *testing.T) {
	t.Parallel()
	from := harness.Config{Model: "a", Effort: harness.EffortLow}
	for _, c := range []struct {
		to   harness.Config
		want string
		live bool
	}{
		{from, `null`, true},
		{harness.Config{Model: "b", Effort: harness.EffortLow, PermissionMode: harness.AcceptEdits}, `[{"subtype":"set_permission_mode","mode":"acceptEdits"},{"subtype":"set_model","model":"b"}]`, true},
		{harness.Config{Model: "a", Effort: harness.EffortMax}, `[{"subtype":"apply_flag_settings","settings":{"effortLevel":"max"}}]`, true},
		{harness.Config{Effort: harness.EffortLow}, `[{"subtype":"set_model"}]`, true},
		{harness.Config{Model: "a"}, `null`, false},
		{harness.Config{Model: "a", Effort: harness.EffortLow, MaxTurns: 3}, `null`, false},
		{harness.Config{Model: "a", Effort: harness.EffortLow, SystemPrompt: "x"}, `null`, false},
	} {
		requests, live := changes(from, c.to)
		if got := encode(t, requests); got != c.want || live != c.live {
			t.Errorf("%+v: %s, %t; want %s, %t", c.to, got, live, c.want, c.live)
		}
		if r, ok := changes(from, liveOnly(from, c.to)); !ok {
			t.Errorf("%+v: the live part is not live: %v", c.to, r)
		}
	}
}

func TestARefOfAnotherEngineIsNone(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "x", "{}", `{"thread":"t"}`, `"claude"`} {
		if r := parseRef(s); r.Claude != "" || r.completed(harness.Turn{}) {
			t.Errorf("%q is read as %+v", s, r)
		}
	}
	r := ref{Session: "ses_1", Claude: "c", Turn: "trn_1", Done: true, At: "u"}
	if got := parseRef(r.String()); got.String() != r.String() {
		t.Errorf("%+v comes back as %+v", r, got)
	}
}

func TestThePastIsToldWithoutThePresent(t *testing.T) {
	t.Parallel()
	var s harness.State
	for i, p := range []harness.Payload{
		&harness.SessionState{SessionID: "ses_1", Kind: harness.Chat, Status: harness.Idle},
		&harness.UserMessage{ItemID: "itm_1", Parts: harness.TextPart("one")},
		&harness.TurnStart{TurnID: "trn_1", ItemID: "itm_2", Attempt: 1},
		&harness.Token{ItemID: "itm_2", Text: "First."},
		&harness.TurnEnd{TurnID: "trn_1", Status: harness.TurnCompleted},
		&harness.UserMessage{ItemID: "itm_3", Parts: harness.TextPart("two")},
		&harness.TurnStart{TurnID: "trn_2", ItemID: "itm_4", Attempt: 1},
	} {
		s.Apply(harness.NewEvent("ses_1", harness.Seq(i+1), fixed, "", p))
	}
	got := transcript(&s)
	if !strings.Contains(got, "user: one\n\nassistant: First.") || strings.Contains(got, "two") {
		t.Errorf("the past is %q", got)
	}
}

func TestTheEnvironmentIsAList(t *testing.T) {
	t.Parallel()
	got := strings.Join(environ("/s", []string{"ANTHROPIC_API_KEY=k"}), "\n")
	for _, name := range []string{"PATH=", "HOME=/s", "CLAUDE_CONFIG_DIR=/s/config", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "ANTHROPIC_API_KEY=k"} {
		if !strings.Contains(got, name) {
			t.Errorf("%s is missing in\n%s", name, got)
		}
	}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "GO") && strings.Contains(got, name+"=") {
			t.Errorf("%s is inherited", name)
		}
	}
}

var fixed = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func encode(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}
