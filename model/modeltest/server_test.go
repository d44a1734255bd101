package modeltest_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"harness/model/modeltest"
)

func get(t *testing.T, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestOtherEndpointsAnswerAsTheRealOnesDo(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, "say hi")
	for _, c := range []struct {
		method, path, body string
		anthropic          bool
		status             int
		want               string
	}{
		{"POST", "/v1/messages/count_tokens?beta=true", `{"messages":[]}`, true, 200, `{"input_tokens":4}`},
		{"GET", "/v1/models", "", true, 200, `"has_more":false`},
		{"GET", "/v1/models", "", false, 200, `{"object":"list","data":[`},
		{"GET", "/v1/models/scripted-model", "", false, 200, `"owned_by":"modeltest"`},
		{"GET", "/v1/models/other", "", true, 404, `"type":"not_found_error"`},
		{"GET", "/v1/files", "", false, 404, `"error":{"message":`},
		{"HEAD", "/", "", true, 200, ""},
		{"GET", "/api/hello", "", true, 200, "{}"},
	} {
		var headers []string
		if c.anthropic {
			headers = []string{"Anthropic-Version", "2023-06-01"}
		}
		status, body := get(t, c.method, s.URL+c.path, c.body, headers...)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, status, body, c.status, c.want)
		}
	}
	if len(s.Requests()) != 0 || len(s.All()) != 8 {
		t.Errorf("%d answers to %d requests", len(s.Requests()), len(s.All()))
	}
}

func TestRulesSeeTheConversationInEveryProtocol(t *testing.T) {
	t.Parallel()
	const script = `
when turn 2 and step 1
  say second turn
when result "No such" and step 2
  say it is gone
when user "and hurry"
  say hurrying
when tool grep
  say searching
when model special
  say special
when request 6
  say sixth
`
	for _, c := range []struct{ name, path, body, want string }{
		{"Turn/Messages", "/v1/messages", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`, "second turn"},
		{"Turn/Chat", "/v1/chat/completions", `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`, "second turn"},
		{"Turn/Responses", "/v1/responses", `{"input":[{"role":"developer","content":"s"},{"role":"user","content":"env"},{"role":"user","content":"a"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},{"role":"user","content":"c"}]}`, "second turn"},
		{"Result/Messages", "/messages", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use"}]},{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"No such file"}]}]}]}`, "it is gone"},
		{"Result/Chat", "/v1/chat/completions", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[]},{"role":"tool","content":"No such file"}]}`, "it is gone"},
		{"Result/Responses", "/v1/responses", `{"input":[{"role":"user","content":"a"},{"type":"reasoning"},{"type":"function_call"},{"type":"function_call"},{"type":"function_call_output","output":"x"},{"type":"function_call_output","output":"No such file"}]}`, "it is gone"},
		{"Steer/Messages", "/v1/messages", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use"}]},{"role":"user","content":[{"type":"tool_result","content":"ok"},{"type":"text","text":"and hurry"}]}]}`, "hurrying"},
		{"Steer/Responses", "/v1/responses", `{"input":[{"role":"user","content":"a"},{"type":"function_call"},{"type":"function_call_output","output":"x"},{"role":"user","content":"and hurry"}]}`, "hurrying"},
		{"Tool/Messages", "/v1/messages", `{"messages":[],"tools":[{"name":"grep"}]}`, "searching"},
		{"Tool/Chat", "/v1/chat/completions", `{"messages":[],"tools":[{"function":{"name":"grep"}}]}`, "searching"},
		{"Model", "/v1/responses", `{"model":"very-special","input":"hi"}`, "special"},
		{"NoRule", "/v1/messages", `{"messages":[{"role":"user","content":"a"}]}`, "no rule of the script covers request 1 (turn 1, step 1, said [\\\"a\\\"], results [])"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.Serve(t, script)
			if _, body := get(t, "POST", s.URL+c.path, c.body); !strings.Contains(body, c.want) {
				t.Errorf("got %s, want %s", body, c.want)
			}
		})
	}
}

func TestAGateHoldsAnAnswerUntilItIsOpened(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, "say before\npause here\nsay after")
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/v1/messages", strings.NewReader(`{"stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	<-s.Reached("here")
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "before") {
	}
	s.Open("here")
	after := false
	for lines.Scan() {
		after = after || strings.Contains(lines.Text(), "after")
	}
	if !after {
		t.Error("the answer did not go on")
	}
}

func TestAScriptThatMeansNothingIsRefused(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"dance", "when moon full\n say x", "when turn x", `when user "open`, "call bash {", "usage in=x", "usage much=1", "stop now", "slow x", "status x", "header x", `say "open`,
	} {
		if _, err := modeltest.Parse(src); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%q: %v", src, err)
		}
	}
}
