package claude

import (
	"bytes"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"harness"
	"harness/engine/internal/talk"
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
		tr := newTranslator(talk.Ref{})
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
		if d := tr.strange.Diagnostic(); d != nil {
			t.Errorf("%s: unknown: %+v", name, d)
		}
		if tokens != tr.speech.String() {
			t.Errorf("%s: told %q, said %q", name, tokens, tr.speech.String())
		}
	}
}

// TestTextThatDidNotStreamIsToldOnce covers versions and answers without pieces.
func TestTextThatDidNotStreamIsToldOnce(t *testing.T) {
	t.Parallel()
	tr := newTranslator(talk.Ref{})
	got := ""
	for _, line := range []string{
		`{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"Whole."}]}}`,
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"b"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_start"}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hal"}}}`,
		`{"type":"assistant","message":{"id":"b","content":[{"type":"text","text":"Half."}]}}`,
		`{"type":"stream_event","event":{"type":"content_block_start"}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Other"}}}`,
		`{"type":"assistant","message":{"id":"b","content":[{"type":"text","text":"Wise it streamed."}]}}`,
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
	if got != "Whole.\n\nHalf.\n\nOther" {
		t.Errorf("told %q", got)
	}
}

// TestTokensAreCountedOnce although each piece of an answer says the sum so far.
func TestTokensAreCountedOnce(t *testing.T) {
	t.Parallel()
	tr := newTranslator(talk.Ref{})
	for range 2 { // answers
		for _, line := range []string{
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"a","usage":{"input_tokens":60,"cache_read_input_tokens":30,"cache_creation_input_tokens":10,"output_tokens":1}}}}`,
			`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":5}}}`,
			`{"type":"stream_event","event":{"type":"message_delta","usage":{"input_tokens":60,"cache_read_input_tokens":30,"cache_creation_input_tokens":10,"output_tokens":9}}}`,
		} {
			m, err := decode([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			tr.take(m)
		}
	}
	if got := tr.usage(nil); got.InputTokens != 200 || got.OutputTokens != 18 || got.CachedTokens != 60 {
		t.Errorf("counted %+v", got)
	}
}

// FuzzTheProgramCanSayAnything and the translator does not mind.
func FuzzTheProgramCanSayAnything(f *testing.F) {
	for _, lines := range recorded(f) {
		f.Add(bytes.Join(lines[:min(len(lines), 40)], []byte("\n")))
	}
	f.Fuzz(func(t *testing.T, all []byte) {
		tr := newTranslator(talk.Ref{})
		for line := range bytes.Lines(all) {
			m, err := decode(line)
			if err != nil {
				continue
			}
			if q, ok := m.(*request); ok {
				tr.asks(q)
				judgement(q, harness.Decision{Verdict: harness.Allow, Scope: harness.Always, Reason: "x"})
				describeCall(q.Request.ToolName, "", q.Request.Input)
				outside("/w", q.Request.BlockedPath, q.Request.Input)
				continue
			}
			tr.take(m)
		}
		tr.abandoned()
		tr.strange.Diagnostic()
	})
}
