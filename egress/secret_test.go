package egress_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"harness/egress"
)

// provider runs a handler as a provider, and returns its address.
func provider(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// TestTheKeyDoesNotComeBack, in whatever way a provider repeats it.
func TestTheKeyDoesNotComeBack(t *testing.T) {
	t.Parallel()
	base := provider(t, func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get("X-Api-Key")
		w.Header().Set("Set-Cookie", "session="+got)
		w.Header().Set("X-Echo", "you sent "+got)
		w.Header().Set("X-"+got, "x")
		w.Header().Set("Request-Id", "req_1")
		w.Header().Set("Content-Type", "text/event-stream")
		status := 200
		fmt.Sscan(r.URL.Query().Get("status"), &status)
		w.WriteHeader(status)
		for _, text := range []string{got, base64.StdEncoding.EncodeToString([]byte("x" + got)), fmt.Sprintf("%x", got), url.QueryEscape("+" + got)} {
			for i := range len(text) { // byte by byte
				_, _ = io.WriteString(w, text[i:i+1])
				w.(http.Flusher).Flush()
			}
			_, _ = io.WriteString(w, "\n")
		}
		_, _ = io.WriteString(w, "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 is none of ours")
	})
	h := build(t, base, egress.Options{})
	token := h.grant(t, egress.Grant{Provider: "anthropic"})
	for _, status := range []int{200, 400, 403, 500} {
		got := post(t, fmt.Sprintf("%s/anthropic/v1/messages?status=%d", h.address, status), token, forms[0].body+"}")
		all := fmt.Sprint(got.header, got.body)
		for _, secret := range []string{canary, fmt.Sprintf("%x", canary), base64.StdEncoding.EncodeToString([]byte("x" + canary))[3:20], "Set-Cookie"} {
			if strings.Contains(strings.ToLower(all), strings.ToLower(secret)) {
				t.Errorf("%d: %q came back:\n%s", status, secret, all)
			}
		}
		if got.status != status || got.header.Get("Request-Id") != "req_1" || !strings.Contains(got.body, "[redacted]") || !strings.Contains(got.body, "abcdefghijklmnopqrstuvwxyz0123456789 is none") {
			t.Errorf("%d: what is not the key should stay: %+v", status, got)
		}
	}
	got := post(t, h.address+"/anthropic/v1/messages?status=401", token, forms[0].body+"}")
	if got.status != 401 || !strings.Contains(got.body, "does not accept the server's key") || h.last().Reason != "key refused" {
		t.Errorf("a refused key: %+v, %+v", got, h.last())
	}
}

func TestAKeyMayChange(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	keys := []string{"first-key-0001", "second-key-0002", "", "short", "line\nbreak-in-it"}
	url := provider(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s and first-key-0001", r.Header.Get("Authorization"))
	})
	h := build(t, url, egress.Options{}, map[string]egress.Provider{
		"turning": {Base: url, Dialect: egress.DialectOpenAI, Key: func() string { return keys[n.Add(1)-1] }},
		"keyless": {Base: url, Dialect: egress.DialectOpenAI},
	})
	token := h.grant(t, egress.Grant{Provider: "turning"})
	for i, want := range []string{"200 Bearer [redacted] and [redacted]", "200 Bearer [redacted] and [redacted]", "503 ", "503 ", "503 "} {
		got := post(t, h.address+"/turning/v1/responses", token, forms[1].body+"}")
		if text := fmt.Sprint(got.status, " ", got.body); !strings.HasPrefix(text, want) {
			t.Errorf("key %d: %s, want %s", i, text, want)
		}
	}
	got := post(t, h.address+"/keyless/v1/responses", h.grant(t, egress.Grant{Provider: "keyless"}), forms[1].body+"}")
	if got.body != " and first-key-0001" {
		t.Errorf("without a key: %+v", got)
	}
}

func TestRedirectsEndAtTheProxy(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := provider(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	url := provider(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscan(r.URL.Query().Get("status"), &status)
		w.Header().Set("Location", other)
		w.WriteHeader(status)
	})
	h := build(t, url, egress.Options{})
	token := h.grant(t, egress.Grant{Provider: "openai"})
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		got := post(t, fmt.Sprintf("%s/openai/v1/responses?status=%d", h.address, status), token, forms[1].body+"}")
		if got.status != 502 || got.header.Get("Location") != "" || h.last().Reason != "redirect" {
			t.Errorf("%d became %+v", status, got)
		}
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestAnAnswerThatCannotBeReadAlongIsRefused(t *testing.T) {
	t.Parallel()
	url := provider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "\x1f\x8b")
	})
	h := build(t, url, egress.Options{})
	if got := post(t, h.address+"/openai/v1/responses", h.grant(t, egress.Grant{Provider: "openai"}), forms[1].body+"}"); got.status != 502 {
		t.Errorf("got %+v", got)
	}
}
