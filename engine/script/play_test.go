package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/script"
)

// facts is what an engine reported since the first event of the log, one line
// each: type and payload.
func facts(h *enginetest.Host, after int) string {
	var b strings.Builder
	for _, e := range h.Events()[after:] {
		p, err := json.Marshal(e.Payload)
		if err != nil {
			panic(err)
		}
		b.WriteString(string(e.Type()) + " " + string(p) + "\n")
	}
	return b.String()
}

// play plays one turn of src.
func play(t *testing.T, src, prompt string) (*enginetest.Host, error) {
	t.Helper()
	h := enginetest.NewHost("ses_1")
	err := engine(t, src, nil).Run(t.Context(), h.Begin(prompt), h)
	return h, err
}

func TestEveryCommandBecomesItsFact(t *testing.T) {
	t.Parallel()
	const outcome = `tool_outcome {"tool_call_id":"c","tool_name":"bash","outcome_type":`
	for _, c := range []struct{ src, want string }{
		{"say a  b", `token {"text":"a  b"}`},
		{`say "a\n "`, `token {"text":"a\n "}`},
		{"type a b", "token {\"text\":\"a \"}\ntoken {\"text\":\"b\"}"},
		{"stream 2 0s x", "token {\"text\":\"x\"}\ntoken {\"text\":\"x\"}"},
		{"echo", "token {\"text\":\"the \"}\ntoken {\"text\":\"prompt\"}"},
		{"think a", `thinking {"text":"a"}`},
		{"reflect a", `reflection {"text":"a"}`},
		{"response a", `response {"text":"a","stop_reason":"end_turn"}`},
		{"say a\nsay b\nresponse", "token {\"text\":\"a\"}\ntoken {\"text\":\"b\"}\nresponse {\"text\":\"ab\",\"stop_reason\":\"end_turn\"}"},
		{"usage 1 2", `usage {"input_tokens":1,"output_tokens":2,"cost_usd":null}`},
		{"usage 1 2 0.5", `usage {"input_tokens":1,"output_tokens":2,"cost_usd":0.5}`},
		{"step 1/3 Look around running", `step_progress {"step_id":"step_1","index":1,"total":3,"title":"Look around","status":"running"}`},
		{`emit completed {"result":"a"}`, `completed {"result":"a"}`},
		{"repeat 2\nsay a\nend", "token {\"text\":\"a\"}\ntoken {\"text\":\"a\"}"},
		{"repeat 0\nsay a\nend\nsay b", `token {"text":"b"}`},
		{"when other PROMPT\nsay a\nelse\nsay b\nend", `token {"text":"a"}`},
		{"when pro\nsay a\nelse when the\nsay b\nelse\nsay c\nend", `token {"text":"b"}`},
		{"when pro\nsay a\nelse\nsay c\nend", `token {"text":"c"}`},
		{"tool bash c\noutcome ok 84ms {\"a\": 1}", outcome + `"ToolExecutionResult","status":"ok","elapsed_ms":84,"result":{"a":1}}`},
		{"tool bash c\noutcome ok fine", outcome + `"ToolExecutionResult","status":"ok","elapsed_ms":0,"result":"fine"}`},
		{"tool bash c\noutcome error no", outcome + `"ToolFailure","status":"error","elapsed_ms":0,"error":"no"}`},
		{"tool bash c\noutcome timeout 2s", outcome + `"ToolTimeout","status":"timeout","elapsed_ms":2000}`},
		{"tool bash c\noutcome denied no", outcome + `"ToolDenied","status":"denied","elapsed_ms":0,"reason":"no"}`},
		{"tool bash c\noutcome artifact art_1", outcome + `"ToolArtifactReference","status":"artifact","elapsed_ms":0,"artifact_id":"art_1"}`},
	} {
		h, err := play(t, c.src, "the prompt")
		got := facts(h, 3)
		if strings.HasPrefix(c.src, "tool") {
			got = got[strings.LastIndex(strings.TrimSpace(got), "\n")+1:]
		}
		if err != nil || got != c.want+"\n" {
			t.Errorf("%q\n got %s%v\nwant %s", c.src, got, err, c.want)
		}
	}
}

func TestACallIsCheckpointCallResultOutcome(t *testing.T) {
	t.Parallel()
	h, err := play(t, "call read {\"path\": \"a\"} => text\nask bash {} \"Run\" => ran", "go")
	if err != nil {
		t.Fatal(err)
	}
	want := `session_checkpoint {"session_id":"ses_1","sequence":0,"checkpoint_type":"engine","status":"running","summary_text":"","resume_cursor":null,"engine_ref":"script:1:0:trn_1"}
tool_call {"name":"read","arguments":{"path":"a"},"tool_call_id":"call_1_1"}
tool_result {"tool_call_id":"call_1_1","tool_name":"read","output":"text"}
tool_outcome {"tool_call_id":"call_1_1","tool_name":"read","outcome_type":"ToolExecutionResult","status":"ok","elapsed_ms":0}
session_checkpoint {"session_id":"ses_1","sequence":0,"checkpoint_type":"engine","status":"running","summary_text":"","resume_cursor":null,"engine_ref":"script:1:1:trn_1"}
tool_call {"name":"bash","arguments":{},"tool_call_id":"call_1_2"}
approval_required {"request_id":"apr_ses_1.10","tool_name":"bash","tool_call_id":"call_1_2","description":"Run","input":{}}
approval_applied {"request_id":"apr_ses_1.10","tool_name":"bash","tool_call_id":"call_1_2","decision":"allow","scope":"once","actor":"test","source":"user"}
tool_result {"tool_call_id":"call_1_2","tool_name":"bash","output":"ran"}
tool_outcome {"tool_call_id":"call_1_2","tool_name":"bash","outcome_type":"ToolExecutionResult","status":"ok","elapsed_ms":0}
`
	if got := facts(h, 3); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestADeniedAskSkipsItsBlock(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"ask bash c\n  log a\n  repeat 2\n    say b\n  end\nsay after", "ask bash c => a\nsay after"} {
		h := enginetest.NewHost("ses_1")
		h.Answer = func(context.Context, harness.ToolUse) (harness.Decision, error) {
			return harness.Decision{Verdict: harness.Deny, Reason: "too risky"}, nil
		}
		if err := engine(t, src, nil).Run(t.Context(), h.Begin("go"), h); err != nil {
			t.Fatal(err)
		}
		want := `tool_outcome {"tool_call_id":"c","tool_name":"bash","outcome_type":"ToolDenied","status":"denied","elapsed_ms":0,"reason":"too risky"}
token {"text":"after"}
`
		if got := facts(h, 7); got != want {
			t.Errorf("%q\n got %s\nwant %s", src, got, want)
		}
	}
}

func TestCallsInARepeatHaveIdsOfTheirOwn(t *testing.T) {
	t.Parallel()
	h, err := play(t, "repeat 2\nrepeat 2\ntool a\nlog x\noutcome ok\nend\nend", "go")
	if err != nil || len(h.Complaints()) > 0 {
		t.Fatalf("%v %q", err, h.Complaints())
	}
	var ids []string
	for _, c := range h.State().Messages[1].Calls {
		ids = append(ids, string(c.ID)+" "+string(c.Status)+" "+c.Output.String())
	}
	want := []string{"call_1_3_1_1 complete x", "call_1_3_1_2 complete x", "call_1_3_2_1 complete x", "call_1_3_2_2 complete x"}
	if !slices.Equal(ids, want) {
		t.Errorf("got %q\nwant %q", ids, want)
	}
}

func TestEndsOfATurn(t *testing.T) {
	t.Parallel()
	if _, err := play(t, "fail it broke", "go"); err == nil || err.Error() != "it broke" || errors.Is(err, harness.ErrRetry) {
		t.Errorf("fail: Run returned %v", err)
	}
	if _, err := play(t, "retry busy", "go"); err == nil || err.Error() != "busy: temporary failure" || !errors.Is(err, harness.ErrRetry) {
		t.Errorf("retry: Run returned %v", err)
	}
}

func TestEachTurnPlaysItsPartAndTheLastOneAgain(t *testing.T) {
	t.Parallel()
	e := engine(t, "say one\n===\ncall a => x\nsay two\n=== and so on\nsay more", nil)
	h := enginetest.NewHost("ses_1")
	for range 4 {
		turn := h.Begin("go")
		h.End(e.Run(t.Context(), turn, h))
	}
	var said []string
	for _, m := range h.State().Messages {
		if m.Role == harness.Assistant {
			said = append(said, m.Content.String())
		}
	}
	if want := []string{"one", "two", "more", "more"}; !slices.Equal(said, want) {
		t.Errorf("the turns said %q, want %q", said, want)
	}
	if got, want := h.State().EngineRef, "script:4:0:trn_4"; got != want {
		t.Errorf("the last position is %q, want %q", got, want)
	}
}

func TestAnEmptyScriptEchoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, err := play(t, "# nothing\n", "hello you")
		want := "This is the script engine, not a language model. You said: hello you"
		if got := h.State().Messages[1].Content.String(); err != nil || got != want {
			t.Errorf("got %q, %v\nwant %q", got, err, want)
		}
	})
}

func TestPaceIsTheTimeBetweenWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := play(t, "type a b c\npace 20ms\ntype a b c\nstream 3 1s x\nwait 5s", "go")
		if took, want := time.Since(begun), 7040*time.Millisecond; err != nil || took != want {
			t.Errorf("took %s, %v, want %s", took, err, want)
		}
	})
}

func TestAGateHoldsUntilItIsOpened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, "say before\ngate g\nsay after\ngate g", nil)
		h := enginetest.NewHost("ses_1")
		done := make(chan error)
		go func() { done <- e.Run(t.Context(), h.Begin("go"), h) }()
		synctest.Wait()
		if got := h.State().Messages[1].Content.String(); got != "before" {
			t.Errorf("at the gate it has said %q", got)
		}
		e.Open("other")
		synctest.Wait()
		e.Open("g")
		e.Open("g")
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := h.State().Messages[1].Content.String(); got != "beforeafter" {
			t.Errorf("in the end it has said %q", got)
		}
	})
}

func TestSteeringIsAnswered(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"steer waits": "say a\nsteer\nresponse", "listen takes what is there": "say a\nwait 2s\nlisten\nwait 2s", "the end takes the rest": "say a\nwait 5s",
	} {
		synctest.Test(t, func(t *testing.T) {
			e := engine(t, src, nil)
			h := enginetest.NewHost("ses_1")
			done := make(chan error)
			go func() { done <- e.Run(t.Context(), h.Begin("go"), h) }()
			synctest.Wait()
			time.Sleep(time.Second) // sleep: fake time; the turn is in its first wait
			if err := h.Steer(t.Context(), "left"); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			var said []string
			for _, m := range h.State().Messages {
				said = append(said, m.Content.String())
			}
			if want := []string{"go", "a", "left", "steered: left"}; !slices.Equal(said, want) {
				t.Errorf("%s: the conversation is %q, want %q", name, said, want)
			}
		})
	}
}

func TestExamplesOfTheEventContractAreEmittedVerbatim(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/s3.script")
	if err != nil {
		t.Fatal(err)
	}
	e, err := script.Open("testdata/s3.script", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []harness.Payload
	h := enginetest.NewHost("ses_1")
	if err := e.Run(t.Context(), h.Begin("go"), &taking{h, &got}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(src)), "\n")[1:]
	if len(lines) != len(got) {
		t.Fatalf("%d events of %d lines", len(got), len(lines))
	}
	for i, line := range lines {
		f := strings.SplitN(line, " ", 3)
		var want, have map[string]any
		raw, err := json.Marshal(got[i])
		if err := errors.Join(err, json.Unmarshal(raw, &have), json.Unmarshal([]byte(f[2]), &want)); err != nil {
			t.Fatal(err)
		}
		for k, v := range want {
			if !reflect.DeepEqual(have[k], v) || string(got[i].Type()) != f[1] {
				t.Errorf("%s\nbecame %s %s", line, got[i].Type(), raw)
			}
		}
	}
}

// taking takes every payload as it is.
type taking struct {
	harness.Host
	got *[]harness.Payload
}

func (h *taking) Emit(_ context.Context, p harness.Payload) error {
	*h.got = append(*h.got, p)
	return nil
}

func TestOpenNamesTheFileAndTheLine(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/bad.script"
	if err := os.WriteFile(path, []byte("say a\nsing b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := script.Open(path, nil); err == nil || !strings.Contains(err.Error(), path+": script line 2: ") {
		t.Errorf("Open returned %v", err)
	}
	if _, err := script.Open(path+"x", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of no file returned %v", err)
	}
}
