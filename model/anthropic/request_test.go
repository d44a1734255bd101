package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"harness/model"
	"harness/model/anthropic"
	"harness/model/modeltest"
)

// TestTheEnvironmentIsNotAsked sets everything the SDK would take from it.
func TestTheEnvironmentIsNotAsked(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_API_KEY": "env-key", "ANTHROPIC_AUTH_TOKEN": "env-token",
		"ANTHROPIC_CUSTOM_HEADERS": "X-Env: 1", "ANTHROPIC_PROFILE": "env", "HTTP_PROXY": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	s := modeltest.Serve(t, "say hi")
	if _, err := modeltest.Ask(t, open(t, modeltest.Target{URL: s.URL}), modeltest.Prompt("hi")); err != nil {
		t.Fatal(err)
	}
	h := s.Requests()[0].Header
	for name, values := range h {
		if strings.Contains(strings.Join(values, " "), "env") || name == "X-Env" {
			t.Errorf("%s: %q comes from the environment", name, values)
		}
	}
	if h.Get("X-Api-Key") != modeltest.Key || h.Get("Authorization") != "" || h.Get("Anthropic-Version") == "" {
		t.Errorf("headers are %v", h)
	}
}

func TestAGatewayGetsABearerToken(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, "say hi")
	c := anthropic.New("k", &anthropic.Options{URL: s.URL + "/", Bearer: true})
	if _, err := modeltest.Ask(t, c, modeltest.Prompt("hi")); err != nil {
		t.Fatal(err)
	}
	if h := s.Requests()[0].Header; h.Get("Authorization") != "Bearer k" || h.Get("X-Api-Key") != "" {
		t.Errorf("headers are %v", h)
	}
}

// body is the request that r becomes.
func body(t *testing.T, r *model.Request) map[string]any {
	t.Helper()
	s := modeltest.Serve(t, "say hi")
	if _, err := modeltest.Ask(t, open(t, modeltest.Target{URL: s.URL}), r); err != nil {
		t.Fatal(err)
	}
	var b map[string]any
	if err := json.Unmarshal(s.Requests()[0].Body, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEffortIsABudgetForOldModelsAndAWordForNewOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model    string
		effort   model.Effort
		want     string // of thinking
		output   string // of output_config
		warm     bool   // the temperature is sent
		maxAbove float64
	}{
		{"claude-opus-5", model.EffortDefault, `null`, `null`, true, 0},
		{"claude-opus-5", model.EffortHigh, `{"display":"summarized","type":"adaptive"}`, `{"effort":"high"}`, false, 0},
		{"claude-opus-5", model.EffortNone, `{"type":"disabled"}`, `null`, true, 0},
		{"claude-sonnet-4-5-20250929", model.EffortMax, `{"budget_tokens":32768,"type":"enabled"}`, `null`, false, 32768},
	} {
		r := modeltest.Prompt("hi")
		r.Model, r.Effort, r.Temperature = c.model, c.effort, new(0.5)
		b := body(t, r)
		thinking, _ := json.Marshal(b["thinking"])
		output, _ := json.Marshal(b["output_config"])
		if string(thinking) != c.want || string(output) != c.output || (b["temperature"] != nil) != c.warm || b["max_tokens"].(float64) <= c.maxAbove {
			t.Errorf("%s %s: thinking %s, output %s, temperature %v, max_tokens %v", c.model, c.effort, thinking, output, b["temperature"], b["max_tokens"])
		}
	}
}

func TestCallsThatAnotherProviderBeganGoOnWithoutThinking(t *testing.T) {
	t.Parallel()
	r := modeltest.Prompt("hi")
	r.Model, r.Effort = "claude-sonnet-4-5", model.EffortHigh
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Kind: model.PartThinking, Text: "x", Signature: "s", Provider: "other"}, model.Call("c", "bash", "{}")}},
		model.Message{Role: model.User, Parts: []model.Part{model.Result("c", "ok", false)}})
	if b := body(t, r); b["thinking"] != nil {
		t.Errorf("thinking is %v", b["thinking"])
	}
}

func TestAtMostFourPrefixesAreMarked(t *testing.T) {
	t.Parallel()
	r := modeltest.Prompt("one")
	for range 5 {
		r.Messages = append(r.Messages, model.Say(model.Assistant, "a"), model.Say(model.User, "b"))
	}
	marks := func(b map[string]any) int {
		raw, _ := json.Marshal(b)
		return strings.Count(string(raw), "cache_control")
	}
	if n := marks(body(t, r)); n != 4 {
		t.Errorf("%d marks", n)
	}
	r.NoCache = true
	if n := marks(body(t, r)); n != 0 {
		t.Errorf("%d marks although nobody goes on", n)
	}
}

func TestPicturesAndFilesAreSent(t *testing.T) {
	t.Parallel()
	r := modeltest.Prompt("look")
	r.Messages = []model.Message{{Role: model.User, Parts: []model.Part{
		{Kind: model.PartImage, Media: "image/png", Data: []byte("png")}, {Kind: model.PartFile, Media: "application/pdf", Data: []byte("pdf"), Name: "a.pdf"},
		{Kind: model.PartFile, Media: "text/plain", Data: []byte("plain"), Name: "a.txt"},
	}}, model.Say(model.Assistant, "ok"), {Role: model.User, Parts: []model.Part{{Kind: model.PartResult, ID: "c", Parts: []model.Part{{Kind: model.PartImage, Media: "image/png", Data: []byte("png")}}}}}}
	raw, _ := json.Marshal(body(t, r)["messages"])
	for _, want := range []string{
		`"source":{"data":"cG5n","media_type":"image/png","type":"base64"},"type":"image"`, `"media_type":"application/pdf"`, `"title":"a.pdf"`,
		`{"data":"plain","media_type":"text/plain","type":"text"}`, `"tool_use_id":"c"`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is not in %s", want, raw)
		}
	}
}

func TestTokensAreCountedByTheServer(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, "say hi")
	n, err := open(t, modeltest.Target{URL: s.URL}).(model.Counter).Count(t.Context(), modeltest.Prompt("hi"))
	if err != nil || n < 50 || len(s.All()) != 1 || s.All()[0].Method != http.MethodPost {
		t.Errorf("%d, %v", n, err)
	}
	if !strings.Contains(string(s.All()[0].Body), `"tools"`) {
		t.Errorf("the tools were not counted: %s", s.All()[0].Body)
	}
}

func TestASchemaThatIsNotJSONIsOurMistake(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, "say hi")
	r := modeltest.Prompt("hi")
	r.Tools[0].Schema = json.RawMessage("{")
	if _, err := modeltest.Ask(t, open(t, modeltest.Target{URL: s.URL}), r); err == nil || len(s.All()) != 0 {
		t.Errorf("got %v, asked %d times", err, len(s.All()))
	}
}
