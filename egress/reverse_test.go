package egress_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"harness/egress"
	"harness/model/modeltest"
)

// forms are the ways to ask for an answer.
var forms = []struct {
	name, provider, path, body string
	cacheWrite                 int64 // that the form can tell
}{
	{"Messages", "anthropic", "/v1/messages", `{"model":"m-1","max_tokens":99,"messages":[{"role":"user","content":"hi"}]`, 5},
	{"Responses", "openai", "/v1/responses", `{"model":"m-1","max_output_tokens":99,"input":"hi"`, 0},
	{"Chat", "openai", "/v1/chat/completions", `{"model":"m-1","max_completion_tokens":99,"messages":[{"role":"user","content":"hi"}]`, 0},
}

// TestAnAnswerIsTheProvidersOwn compares, byte by byte, what an agent gets
// through the proxy with what it gets from the provider.
func TestAnAnswerIsTheProvidersOwn(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		for name, rest := range map[string]string{"Whole": `}`, "Streamed": `,"stream":true,"stream_options":{"include_usage":true}}`} {
			t.Run(f.name+name, func(t *testing.T) {
				t.Parallel()
				up := scripted(t)
				direct := post(t, up.URL+f.path, canary, f.body+rest)
				up = scripted(t) // whose numbers begin anew
				h := build(t, up.URL, egress.Options{})
				token := h.grant(t, egress.Grant{Session: "ses_1", Turn: "trn_1", Provider: f.provider})
				got := post(t, h.address+"/"+f.provider+f.path+"?beta=true", token, f.body+rest)
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
				checkSent(t, up.Requests()[0], f.provider, token, f.body+rest)
				if r := h.last(); !r.Allowed || r.Session != "ses_1" || r.Turn != "trn_1" || r.Provider != f.provider || r.Model != "m-1" || r.Target != "/"+f.provider+f.path {
					t.Errorf("recorded %+v", r)
				}
			})
		}
	}
}

// checkSent looks at what a provider got.
func checkSent(t *testing.T, r *modeltest.Request, provider, token, body string) {
	t.Helper()
	name, value := "X-Api-Key", canary
	if provider == "openai" {
		name, value = "Authorization", "Bearer "+canary
	}
	if got := r.Header[name]; !slices.Equal(got, []string{value}) {
		t.Errorf("%s is %q, want the key", name, got)
	}
	if string(r.Body) != body || !strings.HasSuffix(r.Path, "?beta=true") {
		t.Errorf("sent %s\n%s", r.Path, r.Body)
	}
	for n, v := range r.Header {
		if strings.Contains(strings.Join(v, " "), token) {
			t.Errorf("%s has the run token", n)
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
		"X-Real-Ip", "Via", "Te", "Keep-Alive", "Api-Key", "X_api_key", "X-Goog-Api-Key", "X-Named", "X-Http-Method-Override", "Expect-Not",
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
		"route":       func(p *egress.Provider) { p.Routes = []egress.Route{{Method: "POST", Path: "v1", Kind: egress.Answer}} },
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
