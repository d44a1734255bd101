package egress_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"harness/egress"
	"harness/model/modeltest"
)

// form is a way to ask for an answer. Its body lacks the end.
type form struct {
	name, provider, path, body string
	cacheWrite                 int64 // that the form can tell
}

// streamed is where and how a stream is asked for.
func (f form) streamed() (path, body string) {
	if f.provider == "google" {
		return strings.Replace(f.path, ":generateContent", ":streamGenerateContent?alt=sse", 1), f.body + "}"
	}
	return f.path + "?beta=true", f.body + `,"stream":true,"stream_options":{"include_usage":true}}`
}

func (f form) whole() (path, body string) { return f.path, f.body + "}" }

// header is where the provider wants its key, and what before it.
func (f form) header() (name, prefix string) {
	switch f.provider {
	case "openai":
		return "Authorization", "Bearer "
	case "google":
		return "X-Goog-Api-Key", ""
	}
	return "X-Api-Key", ""
}

// spent is the status when a budget is used up.
func (f form) spent() int {
	if f.provider == "google" {
		return http.StatusForbidden // after a 429 its programs come again for minutes
	}
	return http.StatusTooManyRequests
}

var forms = []form{
	{"Messages", "anthropic", "/v1/messages", `{"model":"m-1","max_tokens":99,"messages":[{"role":"user","content":"hi"}]`, 5},
	{"Responses", "openai", "/v1/responses", `{"model":"m-1","max_output_tokens":99,"input":"hi"`, 0},
	{"Chat", "openai", "/v1/chat/completions", `{"model":"m-1","max_completion_tokens":99,"messages":[{"role":"user","content":"hi"}]`, 0},
	{"Generate", "google", "/v1beta/models/m-1:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":99}`, 0},
}

// TestAnAnswerIsTheProvidersOwn compares, byte by byte, what an agent gets
// through the proxy with what it gets from the provider.
func TestAnAnswerIsTheProvidersOwn(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		for name, way := range map[string]func() (path, body string){"Whole": f.whole, "Streamed": f.streamed} {
			t.Run(f.name+name, func(t *testing.T) {
				t.Parallel()
				path, body := way()
				up := scripted(t)
				direct := post(t, up.URL+path, canary, body)
				up = scripted(t) // whose numbers begin anew
				h := build(t, up.URL, egress.Options{})
				token := h.grant(t, egress.Grant{Session: "ses_1", Turn: "trn_1", Provider: f.provider})
				got := post(t, h.address+"/"+f.provider+path, token, body)
				if got.err != nil || got.status != http.StatusOK || got.body != direct.body {
					t.Errorf("got %d %v\n%s\nwant\n%s", got.status, got.err, got.body, direct.body)
				}
				if a, b := got.header.Get("Content-Type"), direct.header.Get("Content-Type"); a != b {
					t.Errorf("content type %q, want %q", a, b)
				}
				want := egress.Usage{Model: "m-1", Input: 100, Output: 7, CacheRead: 40, CacheWrite: f.cacheWrite}
				until(t, "the usage", func() bool { return len(h.used()) > 0 })
				if used := h.used(); !slices.Equal(used, []egress.Usage{want}) {
					t.Errorf("used %+v, want %+v", used, want)
				}
				sent := up.Requests()[0]
				f.checkKey(t, sent, token)
				if string(sent.Body) != body || sent.Path != path {
					t.Errorf("sent %s\n%s", sent.Path, sent.Body)
				}
				target, _, _ := strings.Cut("/"+f.provider+path, "?")
				if r := h.last(); !r.Allowed || r.Session != "ses_1" || r.Turn != "trn_1" || r.Provider != f.provider || r.Model != "m-1" || r.Target != target {
					t.Errorf("recorded %+v", r)
				}
			})
		}
	}
}

// checkKey looks for the key, and for nothing else, at what a provider got.
func (f form) checkKey(t *testing.T, r *modeltest.Request, token string) {
	t.Helper()
	name, prefix := f.header()
	if got := r.Header[name]; !slices.Equal(got, []string{prefix + canary}) {
		t.Errorf("%s is %q, want the key", name, got)
	}
	for n, v := range r.Header {
		if s := strings.Join(v, " "); strings.Contains(s, token) || n != name && strings.Contains(s, canary) {
			t.Errorf("%s is %q", n, s)
		}
	}
}

func TestWhatIsNotTheAgentsToSayIsNotSent(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	h := build(t, up.URL, egress.Options{})
	token := h.grant(t, egress.Grant{Provider: "openai"})
	body := forms[2].body + "}"
	r, _ := http.NewRequest(http.MethodPost, h.address+"/openai/v1/chat/completions", strings.NewReader(body))
	for _, name := range []string{
		"Cookie", "Proxy-Authorization", "Proxy-Connection", "Proxy-X", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X_Forwarded_For",
		"X-Real-Ip", "Via", "Te", "Keep-Alive", "Api-Key", "X_api_key", "X_goog_api_key", "X-Goog-User-Project", "X-Named", "X-Http-Method-Override", "Expect-Not",
	} {
		r.Header[name] = []string{"x"}
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Connection", "X-Named, keep-alive")
	r.Header.Set("Openai-Beta", "this")
	r.Header.Set("User-Agent", "agent/1")
	if got := do(t, client(t), r); got.status != http.StatusOK {
		t.Fatalf("got %+v", got)
	}
	sent := up.Requests()[0].Header
	var names []string
	for n := range sent {
		names = append(names, n)
	}
	slices.Sort(names)
	want := []string{"Accept-Encoding", "Authorization", "Content-Length", "Expect-Not", "Openai-Beta", "User-Agent"}
	if !slices.Equal(names, want) || sent.Get("User-Agent") != "agent/1" || sent.Get("Accept-Encoding") != "identity" {
		t.Errorf("sent %v, want %q", sent, want)
	}
}

func TestModelsCanBeLookedAtAndTokensCounted(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	h := build(t, up.URL, egress.Options{})
	token := h.grant(t, egress.Grant{Provider: "anthropic", Models: []string{"m-1", "scripted-*"}})
	for path, want := range map[string]int{"/v1/models": 200, "/v1/models/scripted-model": 200, "/v1/models/other": 403, "/v1/models/..": 403, "/v1/models/m-1/x": 403} {
		r, _ := http.NewRequest(http.MethodGet, h.address+"/anthropic"+path, nil)
		r.Header.Set("X-Api-Key", token)
		if got := do(t, client(t), r); got.status != want {
			t.Errorf("%s: %d, want %d: %s", path, got.status, want, got.body)
		}
	}
	if got := post(t, h.address+"/anthropic/v1/messages/count_tokens", token, `{"model":"m-1","messages":[]}`); got.status != 200 || !strings.Contains(got.body, "input_tokens") {
		t.Errorf("count: %+v", got)
	}
	if len(h.used()) != 0 {
		t.Errorf("used %v for nothing", h.used())
	}
}

func TestTheEnvironmentOfAnAgentLeadsToTheProxy(t *testing.T) {
	t.Parallel()
	h := build(t, "http://127.0.0.1:1", egress.Options{})
	for provider, want := range map[string][]string{
		"anthropic": {"ANTHROPIC_BASE_URL=http://x/anthropic", "ANTHROPIC_API_KEY=tok"},
		"openai":    {"OPENAI_BASE_URL=http://x/openai/v1", "OPENAI_API_KEY=tok"},
		"google":    {"GOOGLE_GEMINI_BASE_URL=http://x/google", "GEMINI_API_KEY=tok"},
	} {
		if got, err := h.Env(provider, "http://x", "tok"); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", provider, got, err, want)
		}
	}
	if _, err := h.Env("nobody", "", ""); err == nil {
		t.Error("there is an environment for nobody")
	}
}

func TestProvidersToWhomAKeyCouldGetLostAreRefused(t *testing.T) {
	t.Parallel()
	good := egress.Provider{Base: "https://api.example.com/x/", Dialect: egress.DialectOpenAI}
	for name, change := range map[string]func(*egress.Provider){
		"plain http":  func(p *egress.Provider) { p.Base = "http://api.example.com" },
		"lan http":    func(p *egress.Provider) { p.Base, p.Private = "http://10.0.0.1", true },
		"almost here": func(p *egress.Provider) { p.Base = "http://localhost.example.com" },
		"user":        func(p *egress.Provider) { p.Base = "https://u:p@example.com" },
		"query":       func(p *egress.Provider) { p.Base = "https://example.com/?a=b" },
		"no host":     func(p *egress.Provider) { p.Base = "/v1" },
		"scheme":      func(p *egress.Provider) { p.Base = "file:///etc" },
		"dialect":     func(p *egress.Provider) { p.Dialect = "x" },
		"model and path": func(p *egress.Provider) {
			p.Routes = []egress.Route{{Method: "POST", Path: "/v1/{model}/x", Kind: egress.Answer}}
		},
		"route": func(p *egress.Provider) { p.Routes = []egress.Route{{Method: "POST", Path: "v1", Kind: egress.Answer}} },
	} {
		p := good
		change(&p)
		if _, err := egress.New(map[string]egress.Provider{"p": p}, nil); err == nil {
			t.Errorf("%s: %+v was accepted", name, p)
		}
	}
	if _, err := egress.New(map[string]egress.Provider{"p": good}, nil); err != nil {
		t.Errorf("%+v: %v", good, err)
	}
	if _, err := egress.New(map[string]egress.Provider{"a/b": good}, nil); err == nil {
		t.Error("a name that is a path was accepted")
	}
}
