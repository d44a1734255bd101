package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"harness/model"
	"harness/model/modeltest"
	"harness/model/openai"
)

// TestTheEnvironmentIsNotAsked sets everything the SDK would take from it.
func TestTheEnvironmentIsNotAsked(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_BASE_URL": "http://127.0.0.1:1", "OPENAI_API_KEY": "env-key", "OPENAI_ORG_ID": "env-org", "OPENAI_PROJECT_ID": "env-project",
		"OPENAI_CUSTOM_HEADERS": "X-Env: 1", "HTTP_PROXY": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	for _, open := range []func(testing.TB, modeltest.Target) model.Client{openResponses, openChat} {
		s := modeltest.Serve(t, "say hi")
		if _, err := modeltest.Ask(t, open(t, modeltest.Target{URL: s.URL}), modeltest.Prompt("hi")); err != nil {
			t.Fatal(err)
		}
		for name, values := range s.Requests()[0].Header {
			if strings.Contains(strings.Join(values, " "), "env") || name == "X-Env" {
				t.Errorf("%s: %q comes from the environment", name, values)
			}
		}
	}
}

func TestAServerWithoutKeysGetsNone(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, "say hi")
	if _, err := modeltest.Ask(t, openai.NewChat("", &openai.Options{URL: s.URL + "/v1"}), modeltest.Prompt("hi")); err != nil {
		t.Fatal(err)
	}
	if a := s.Requests()[0].Header.Get("Authorization"); a != "" {
		t.Errorf("sent %q", a)
	}
}

// body is the request that r becomes.
func body(t *testing.T, open func(testing.TB, modeltest.Target) model.Client, r *model.Request) string {
	t.Helper()
	s := modeltest.Serve(t, "say hi")
	if _, err := modeltest.Ask(t, open(t, modeltest.Target{URL: s.URL}), r); err != nil {
		t.Fatal(err)
	}
	return string(s.Requests()[0].Body)
}

func full() *model.Request {
	r := modeltest.Prompt("look")
	r.Effort, r.CacheKey, r.Temperature, r.Choice = model.EffortHigh, "ses_1", new(0.5), model.ChoiceAny
	r.Messages = append(r.Messages, model.Message{Role: model.User, Parts: []model.Part{
		{Kind: model.PartImage, Media: "image/png", Data: []byte("png")}, {Kind: model.PartFile, Media: "application/pdf", Data: []byte("pdf"), Name: "a.pdf"},
		{Kind: model.PartResult, ID: "c", Parts: []model.Part{{Kind: model.PartText, Text: "seen"}, {Kind: model.PartImage, Media: "image/png", Data: []byte("png")}}},
	}})
	return r
}

func TestResponsesSayEverything(t *testing.T) {
	t.Parallel()
	got := body(t, openResponses, full())
	for _, want := range []string{
		`"instructions":"Be brief."`, `"store":false`, `"include":["reasoning.encrypted_content"]`, `"prompt_cache_key":"ses_1"`, `"reasoning":{"effort":"high","summary":"auto"}`,
		`"max_output_tokens":1000`, `"tool_choice":"required"`, `"image_url":"data:image/png;base64,cG5n"`, `"file_data":"data:application/pdf;base64,cGRm"`, `"filename":"a.pdf"`,
		`"call_id":"c"`, `{"text":"seen","type":"input_text"}`, `"parallel_tool_calls":true`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if strings.Contains(got, "temperature") {
		t.Error("a model that thinks was given a temperature")
	}
}

func TestChatSaysWhatEveryServerTakes(t *testing.T) {
	t.Parallel()
	got := body(t, openChat, full())
	for _, want := range []string{
		`{"role":"system","content":"Be brief."}`, `"max_tokens":1000`, `"reasoning_effort":"high"`, `"tool_choice":"required"`, `"url":"data:image/png;base64,cG5n"`,
		`"tool_call_id":"c"`, `"stream_options":{"include_usage":true}`, `{"role":"user","content":"look"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	for _, not := range []string{"prompt_cache_key", "max_completion_tokens", "parallel_tool_calls"} {
		if strings.Contains(got, not) {
			t.Errorf("%s is only for OpenAI's own server: %s", not, got)
		}
	}
}

// TestServersThatFollowLooselyAreUnderstood plays what some compatible servers
// really send.
func TestServersThatFollowLooselyAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sent string
		calls      string
		stop       model.Stop
	}{
		{"CallsWithoutIDs", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"bash","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, "call_0 bash {}", model.StopTools},
		{"AllCallsAreNumberZero", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"stop"}]}`, "a bash {},b read {}", model.StopTools},
		{"NoUsage", `{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`, "", model.StopEnd},
		{"Reasoning", `{"choices":[{"index":0,"delta":{"reasoning":"hm"},"finish_reason":"stop"}]}`, "", model.StopEnd},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.Write([]byte("data: " + c.sent + "\n\ndata: [DONE]\n\n")) // the client reads it all
			}))
			t.Cleanup(s.Close)
			a, err := modeltest.Ask(t, openai.NewChat("", &openai.Options{URL: s.URL}), modeltest.Prompt("hi"))
			var calls []string
			for _, p := range a.Calls() {
				calls = append(calls, p.ID+" "+p.Name+" "+p.Args)
			}
			if err != nil || strings.Join(calls, ",") != c.calls || a.Stop != c.stop {
				t.Errorf("%v, %q, %v", calls, a.Stop, err)
			}
		})
	}
}

func TestResponsesWithoutDeltasAreUnderstood(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, `raw "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"bash\",\"arguments\":\"{}\"}}\n\n"
raw "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"read\",\"arguments\":\"{}\"}}\n\n"`)
	a, err := modeltest.Ask(t, openResponses(t, modeltest.Target{URL: s.URL}), modeltest.Prompt("hi"))
	if err != nil || len(a.Calls()) != 2 || a.Calls()[1].ID != "c2" || a.Stop != model.StopTools {
		t.Errorf("%+v, %q, %v", a.Calls(), a.Stop, err)
	}
}

func TestASchemaThatIsNotAnObjectIsOurMistake(t *testing.T) {
	t.Parallel()
	for _, open := range []func(testing.TB, modeltest.Target) model.Client{openResponses, openChat} {
		s := modeltest.Serve(t, "say hi")
		r := modeltest.Prompt("hi")
		r.Tools[0].Schema = json.RawMessage("null")
		if _, err := modeltest.Ask(t, open(t, modeltest.Target{URL: s.URL}), r); err == nil || len(s.All()) != 0 {
			t.Errorf("got %v, asked %d times", err, len(s.All()))
		}
	}
}
