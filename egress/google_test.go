package egress_test

import (
	"net/http"
	"strings"
	"testing"

	"harness/egress"
)

// TestGoogleIsAskedInOneWay: its servers read a model, a key, a method and headers
// from several places, and a field under two names. What could mean something
// else to them than to the proxy does not reach them.
func TestGoogleIsAskedInOneWay(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	h := build(t, up.URL, egress.Options{})
	token := h.grant(t, egress.Grant{Provider: "google", Models: []string{"m-1"}})
	const plain = `"contents":[{"role":"user","parts":[{"text":"hi"}]}]`
	const model, answer = "/v1beta/models/m-1", "/v1beta/models/m-1:generateContent"
	for _, tc := range []struct {
		path, more string
		want       int
	}{
		{answer, ``, 200},
		{answer, `,"model":"models/m-1"`, 200},
		{answer, `,"model":"m-1","generation_config":{"max_output_tokens":7,"candidateCount":1}`, 200},
		{answer, `,"generationConfig":null`, 200},
		{answer + "?alt=json", ``, 200},
		{model + ":streamGenerateContent?alt=sse", ``, 200},

		{answer, `,"model":"models/m-2"`, 400},
		{answer, `,"model":7`, 400},
		{answer, `,"Model":"models/m-1"`, 400},
		{answer, `,"generationConfig":{},"generation_config":{}`, 400},
		{answer, `,"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9}`, 400},
		{answer, `,"generationConfig":{"maxOutputTokens":1,"MaxOutputTokens":9}`, 400},
		{answer, `,"generationConfig":[]`, 400},
		{answer, `,"generationConfig":{"candidateCount":"8"}`, 400},
		{answer, `,"generationConfig":{"candidateCount":8.0}`, 400},
		{answer, `,"generationConfig":{"candidate_count":8e0}`, 400},
		{answer, `,"generationConfig":{"maxOutputTokens":-1}`, 400},
		{model + ":countTokens", `,"generateContentRequest":{"model":"models/m-2"}`, 400},
		{model + ":countTokens", `,"generate_content_request":{}`, 400},

		{answer + "?key=mine", ``, 403},
		{answer + "?alt=sse&access_token=mine", ``, 403},
		{answer + "?$httpMethod=DELETE", ``, 403},
		{answer + "?$httpHeaders=x", ``, 403},
		{answer + "?alt=proto", ``, 403},
		{answer + "?alt=sse&alt=json", ``, 403},
		{"/v1beta/models/m-2:generateContent", ``, 403},
		{"/v1beta/models/m-1:generateContent:generateContent", ``, 403},
		{"/v1beta/models/:generateContent", ``, 403},
		{"/v1beta/models/m-1%3AgenerateContent", ``, 403},
		{"/v1beta/models/x/m-1:generateContent", ``, 403},
		{model + ":batchGenerateContent", ``, 403},
		{"/v1beta/cachedContents", ``, 403},
		{"/upload/v1beta/files", ``, 403},
	} {
		before := len(up.All())
		r, _ := http.NewRequest(http.MethodPost, h.address+"/google"+tc.path, strings.NewReader("{"+plain+tc.more+"}"))
		for name, value := range hints {
			r.Header.Set(name, value)
		}
		r.Header.Set("X-Goog-Api-Key", token)
		got := do(t, client(t), r)
		if sent := len(up.All()) - before; got.status != tc.want || (sent == 1) != (tc.want == 200) {
			t.Errorf("%s with %s: %d, and %d sent, want %d: %s", tc.path, tc.more, got.status, sent, tc.want, got.body)
		}
	}
	for _, r := range up.All() {
		for name := range hints {
			if got := r.Header.Get(name); got != "" && name != "Content-Type" {
				t.Errorf("sent %s: %s", name, got)
			}
		}
		if got := r.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("sent %s", got)
		}
	}
	r, _ := http.NewRequest(http.MethodGet, h.address+"/google/v1beta/models/m-1:generateContent", nil)
	r.Header.Set("X-Goog-Api-Key", h.grant(t, egress.Grant{Provider: "google"}))
	if got := do(t, client(t), r); got.status != 403 {
		t.Errorf("a look at a method: %+v", got)
	}
}

// hints are what Google lets a header say: whose it is, what of an answer to
// leave out, and in which form to speak.
var hints = map[string]string{
	"X-Goog-FieldMask": "candidates", "X-Goog-User-Project": "other", "X-Goog-Quota-User": "other", "X-Goog-Iam-Authorization-Token": "x",
	"X-Goog-Encode-Response-If-Executable": "base64", "Accept": "application/x-protobuf", "Content-Type": "application/x-protobuf",
}

// TestAgentsOfGoogleDoNotComeAgain where that does not help.
func TestAgentsOfGoogleDoNotComeAgain(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	h := build(t, up.URL, egress.Options{}, map[string]egress.Provider{"google": {Base: up.URL, Dialect: egress.DialectGoogle, Key: func() string { return "short" }}})
	path, body := forms[3].whole()
	got := post(t, h.address+"/google"+path, h.grant(t, egress.Grant{Provider: "google"}), body)
	if want := `{"error":{"code":403,"message":"the server has no usable key for this provider","status":"PERMISSION_DENIED"}}`; got.status != 403 || strings.TrimSpace(got.body) != want {
		t.Errorf("%d %s, want %s", got.status, got.body, want)
	}
}

// TestACachedPromptReservesAWholeWindow, for nobody here knows how long it is.
func TestACachedPromptReservesAWholeWindow(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int64{
		`{"contents":[]}`: int64(len(`{"contents":[]}`)) + 128_000,
		`{"generationConfig":{"maxOutputTokens":5,"candidateCount":3}}`:                  int64(len(`{"generationConfig":{"maxOutputTokens":5,"candidateCount":3}}`)) + 15,
		`{"cached_content":"cachedContents/1","generationConfig":{"maxOutputTokens":5}}`: 1<<20 + 5,
	} {
		if got, err := egress.GoogleBound([]byte(body)); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", body, got, err, want)
		}
	}
}
