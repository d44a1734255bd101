package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"harness/model"
)

func TestServersAskToWaitInThreeWays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"3600": time.Hour, "1.5": 1500 * time.Millisecond, "0": 0, "-1": 0, "": 0, "soon": 0, "1e300": 1e9 * time.Second,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, now); got != 250*time.Millisecond {
		t.Errorf("milliseconds are %s", got)
	}
}

func TestWordsWinOverStatusesWhenTheySayMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		words  []string
		text   string
		want   model.Fault
	}{
		{429, []string{"insufficient_quota"}, "", model.Auth},
		{429, []string{"", "tokens"}, "", model.RateLimited},
		{400, []string{"context_length_exceeded", "invalid_request_error"}, "", model.ContextTooLong},
		{400, nil, "This model's maximum context length is 8192 tokens", model.ContextTooLong},
		{400, []string{"invalid_request_error"}, "unknown field", model.BadRequest},
		{200, []string{"something_new"}, "", model.ServerError},
		{503, []string{"api_error"}, "", model.Overloaded},
		{500, []string{"server_error"}, "", model.ServerError},
		{504, nil, "", model.ServerError},
		{418, nil, "", model.BadRequest},
	} {
		if got := (&Said{Status: c.status, Words: c.words, Message: c.text}).Fault(); got != c.want {
			t.Errorf("%d %q %q is %s, want %s", c.status, c.words, c.text, got, c.want)
		}
	}
}

func TestAServersWordsAreBoundedAndWithoutTheKey(t *testing.T) {
	t.Parallel()
	e := (&Said{Status: 400, Message: "key sk-secret " + strings.Repeat("ü", 5000)}).Error("p", "sk-secret")
	if strings.Contains(e.Message, "sk-secret") || len(e.Message) > maxMessage+10 || !strings.HasPrefix(e.Message, "key [key] ") {
		t.Errorf("%d bytes: %.40s", len(e.Message), e.Message)
	}
}

func TestAnotherAddressIsAnotherProvider(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://api.test": "own", "https://api.test/": "own", "https://other.test/v1": "other.test", "http://127.0.0.1:11434/v1": "127.0.0.1:11434", "": "own",
	} {
		if got := Provider("own", "https://api.test", address); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}
