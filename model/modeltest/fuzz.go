package modeltest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"harness/model"
)

// Fuzz gives a client any bytes for a stream: whatever they are, what it makes
// of them is well formed and ends. The seeds are true answers in format.
func Fuzz(f *testing.F, format Format, open func(testing.TB, Target) model.Client) {
	for _, script := range []string{
		"think a b\nredact x\nsay c\ncall bash {\"command\":\"ls\"}\ncall read {\"path\":\"a\"}", "say a\nerror overloaded_error b", "say a\nstop max_tokens\npart bash {\"a", "stop refusal\nsay no", "garbage",
	} {
		f.Add(recorded(f, script, format))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		c := open(t, Target{URL: "http://model.test", HTTP: &http.Client{Transport: canned(sent)}})
		_, err := Ask(t, c, Prompt("hi"))
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}

// recorded is the stream that a script becomes.
func recorded(tb testing.TB, script string, format Format) []byte {
	tb.Helper()
	parsed, err := Parse(script)
	if err != nil {
		tb.Fatal(err)
	}
	path := map[Format]string{Messages: "/v1/messages", Responses: "/v1/responses", Chat: "/v1/chat/completions"}[format]
	w := httptest.NewRecorder()
	New(parsed).ServeHTTP(w, httptest.NewRequestWithContext(tb.Context(), http.MethodPost, path, strings.NewReader(`{"stream":true,"stream_options":{"include_usage":true}}`)))
	return w.Body.Bytes()
}

// canned answers every request with the same stream.
type canned []byte

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(c)), Request: r,
	}, nil
}
