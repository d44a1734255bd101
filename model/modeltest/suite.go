package modeltest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"harness/model"
)

// Target is where a client under test finds the scripted server.
type Target struct {
	URL  string       // without /v1
	HTTP *http.Client // nil is the client's default
}

// Traits say what a protocol cannot do.
type Traits struct {
	Unsigned bool // thoughts have no signature and do not go back
}

// Key is the key that open gives the client.
const Key = "key-of-the-test"

// Test checks a client of a model server: what TestClient checks, what goes
// over the wire in both directions, and every fault of the closed set.
func Test(t *testing.T, open func(testing.TB, Target) model.Client, traits Traits) {
	on := func(tb testing.TB, script string) (model.Client, *Server) {
		s := Serve(tb, script)
		return open(tb, Target{URL: s.URL}), s
	}
	t.Run("Basics", func(t *testing.T) {
		t.Parallel()
		c, _ := on(t, "when user call\n call bash {\"command\":\"ls\"}\nwhen user long\n"+strings.Repeat(" say one two three\n", 40)+"else\n say hello there")
		TestClient(t, c, Situations{Say: Prompt("hi"), Call: Prompt("call"), Long: Prompt("long")})
	})
	t.Run("TextAndThoughtsComeInOrder", func(t *testing.T) {
		t.Parallel()
		c, _ := on(t, "think Let me see.\nsay \"Hello,\\n\"\nsay wörld ✓ 🎉")
		a, err := Ask(t, c, Prompt("hi"))
		if err != nil || a.Text() != "Hello,\n wörld ✓ 🎉" {
			t.Errorf("got %q, %v", a.Text(), err)
		}
		if p := a.Message().Parts; len(p) != 2 || p[0].Kind != model.PartThinking || p[0].Text != "Let me see." {
			t.Errorf("got parts %+v", p)
		}
	})
	t.Run("BytesOneAtATimeMakeTheSameAnswer", func(t *testing.T) {
		t.Parallel()
		c, _ := on(t, "slow\nsay wörld ✓ 🎉\ncall bash {\"command\":\"echo 'ü🎉' \\\\u0041\"}")
		a, err := Ask(t, c, Prompt("hi"))
		if err != nil || a.Text() != "wörld ✓ 🎉" || len(a.Calls()) != 1 || a.Calls()[0].Args != `{"command":"echo 'ü🎉' \\u0041"}` {
			t.Errorf("got %q, %+v, %v", a.Text(), a.Calls(), err)
		}
	})
	t.Run("ParallelCallsEndWhole", func(t *testing.T) {
		t.Parallel()
		c, _ := on(t, "say Both.\ncall bash id=c1 {\"command\":\"ls\"}\ncall read id=c2 {\"path\":\"a\"}\ncall list id=c3")
		a, err := Ask(t, c, Prompt("hi"))
		want := []model.Part{model.Call("c1", "bash", `{"command":"ls"}`), model.Call("c2", "read", `{"path":"a"}`), model.Call("c3", "list", `{}`)}
		same := slices.EqualFunc(a.Calls(), want, func(a, b model.Part) bool { return a.ID == b.ID && a.Name == b.Name && a.Args == b.Args })
		if err != nil || !same {
			t.Errorf("got %+v, %v", a.Calls(), err)
		}
	})
	t.Run("UsageIsCounted", func(t *testing.T) {
		t.Parallel()
		c, _ := on(t, "usage in=100 cached=40 out=7\nsay hi")
		a, err := Ask(t, c, Prompt("hi"))
		if want := (model.Usage{Input: 100, CacheRead: 40, Output: 7}); err != nil || a.Usage != want {
			t.Errorf("got %+v, %v, want %+v", a.Usage, err, want)
		}
	})
	t.Run("AnAnswerCutByItsBoundSaysSo", func(t *testing.T) {
		t.Parallel()
		c, _ := on(t, "stop max_tokens\nsay and then")
		a, err := Ask(t, c, Prompt("hi"))
		if err != nil || a.Stop != model.StopMaxTokens {
			t.Errorf("got %q, %v", a.Stop, err)
		}
	})
	t.Run("ThoughtsGoBackAsTheyCame", func(t *testing.T) { testThoughts(t, on, traits) })
	t.Run("ResultsGoBackInOrder", func(t *testing.T) { testResults(t, on) })
	t.Run("EqualBeginningsAreEqualBytes", func(t *testing.T) { testPrefix(t, on) })
	t.Run("TheKeyIsOnlyInItsHeader", func(t *testing.T) {
		t.Parallel()
		c, s := on(t, "say hi")
		if _, err := Ask(t, c, Prompt("hi")); err != nil {
			t.Fatal(err)
		}
		r := s.All()[0]
		headers := 0
		for _, v := range r.Header {
			if strings.Contains(strings.Join(v, " "), Key) {
				headers++
			}
		}
		if headers != 1 || strings.Contains(r.Path, Key) || bytes.Contains(r.Body, []byte(Key)) {
			t.Errorf("the key is in %d headers of %s\n%s", headers, r.Path, r.Body)
		}
	})
	testFaults(t, open, on)
}

type opener = func(testing.TB, string) (model.Client, *Server)

func testThoughts(t *testing.T, on opener, traits Traits) {
	t.Parallel()
	c, s := on(t, "when step 1\n think Let me see.\n redact aGlkZGVu\n say Looking.\n call bash {\"command\":\"ls\"}\nelse\n say done")
	r := Prompt("hi")
	a, err := Ask(t, c, r)
	if err != nil {
		t.Fatal(err)
	}
	foreign := model.Part{Kind: model.PartThinking, Text: "not yours", Signature: "foreign", ID: "rs_1", Provider: "somebody else"}
	answer := a.Message()
	answer.Parts = append([]model.Part{foreign}, answer.Parts...)
	r.Messages = append(r.Messages, answer, model.Message{Role: model.User, Parts: []model.Part{model.Result(a.Calls()[0].ID, "a.txt", false)}})
	if _, err := Ask(t, c, r); err != nil {
		t.Fatal(err)
	}
	body := string(s.Requests()[1].Body)
	if strings.Contains(body, "not yours") || strings.Contains(body, "foreign") {
		t.Errorf("the thoughts of another provider were sent: %s", body)
	}
	for _, p := range a.Message().Parts {
		if p.Kind != model.PartThinking {
			continue
		}
		if traits.Unsigned != (p.Signature == "") || p.Provider == "" {
			t.Errorf("a thought with signature %q of %q", p.Signature, p.Provider)
		}
		if !traits.Unsigned && (!strings.Contains(body, p.Signature) || !strings.Contains(body, p.Text)) {
			t.Errorf("%+v did not go back: %s", p, body)
		}
	}
}

func testResults(t *testing.T, on opener) {
	t.Parallel()
	c, s := on(t, "say done")
	r := Prompt("hi")
	r.Messages = append(r.Messages,
		model.Message{Role: model.Assistant, Parts: []model.Part{model.Call("c1", "bash", `{"command":"ls"}`), model.Call("c2", "bash", `{"broken`)}},
		model.Message{Role: model.User, Parts: []model.Part{model.Result("c1", "first", false), model.Result("c2", "second", true), {Kind: model.PartText, Text: "and hurry"}}})
	if _, err := Ask(t, c, r); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	if len(got.Results) != 2 || !strings.Contains(got.Results[0], "first") || !strings.Contains(got.Results[1], "second") {
		t.Errorf("results are %q", got.Results)
	}
	if got.Turn != 1 || got.Step != 2 || !slices.Equal(got.Said, []string{"hi", "and hurry"}) || got.System != r.System {
		t.Errorf("turn %d, step %d, said %q, system %q", got.Turn, got.Step, got.Said, got.System)
	}
	if !bytes.Contains(got.Body, []byte("error")) || !bytes.Contains(got.Body, []byte("malformed_arguments")) {
		t.Errorf("neither the error nor the broken arguments are in %s", got.Body)
	}
}

// testPrefix compares what a provider can cache of two requests in a row.
func testPrefix(t *testing.T, on opener) {
	t.Parallel()
	c, s := on(t, "when step 1\n think hm\n call bash {\"command\":\"ls\",\"a\":1}\nelse\n say done")
	r := Prompt("hi")
	r.CacheKey = "ses_1"
	for range 3 {
		a, err := Ask(t, c, r)
		if err != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, a.Message())
		if calls := a.Calls(); len(calls) > 0 {
			r.Messages = append(r.Messages, model.Message{Role: model.User, Parts: []model.Part{model.Result(calls[0].ID, "out", false)}})
		} else {
			r.Messages = append(r.Messages, model.Say(model.User, "go on"))
		}
	}
	asked := s.Requests()
	for i := 1; i < len(asked); i++ {
		before, head := cacheable(t, asked[i-1].Body)
		after, again := cacheable(t, asked[i].Body)
		if !bytes.Equal(head, again) {
			t.Errorf("the head changed\n%s\n%s", head, again)
		}
		if len(before) == 0 || !bytes.HasPrefix(after, before) {
			t.Errorf("request %d does not begin as the one before it\n%s\n%s", i+1, before, after)
		}
	}
}

// cacheable is the messages of a body as they were written, without the marks
// of caching, and everything else of it.
func cacheable(t *testing.T, body []byte) (messages, head []byte) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages", "input"} {
		if m, ok := fields[name]; ok {
			messages = bytes.TrimSuffix(bytes.ReplaceAll(m, []byte(`"cache_control":{"type":"ephemeral"},`), nil), []byte("]"))
			head = bytes.Replace(body, m, nil, 1)
		}
	}
	return messages, head
}

// Prompt is a request of one text, with two tools and a system prompt.
func Prompt(text string) *model.Request {
	return &model.Request{
		Model: "scripted-model", System: "Be brief.", Messages: []model.Message{model.Say(model.User, text)}, MaxTokens: 1000,
		Tools: []model.Tool{
			{Name: "bash", Description: "Runs a command", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
			{Name: "read", Description: "Reads a file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		},
	}
}
