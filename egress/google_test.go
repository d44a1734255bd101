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
		r.Header.Set("X-Goog-Api-Key", token)
		got := do(t, client(t), r)
		if sent := len(up.All()) - before; got.status != tc.want || (sent == 1) != (tc.want == 200) {
			t.Errorf("%s with %s: %d, and %d sent, want %d: %s", tc.path, tc.more, got.status, sent, tc.want, got.body)
		}
	}
}

// TestACachedPromptCountsAsAWholeWindow, for nobody here knows how long it is.
func TestACachedPromptCountsAsAWholeWindow(t *testing.T) {
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
