package main

import (
	"net/http"
	"testing"

	"harness/gateway"
	"harness/gateway/gatewaytest"
)

// TestForgedTokensLeadNowhere is attack 18 against a real server, over HTTP and
// as a WebSocket: a status, a line in the audit, nothing changed, and the
// provider was asked for its keys no more often than for a good token, but for
// one key that nobody has.
func TestForgedTokensLeadNowhere(t *testing.T) {
	t.Parallel()
	i := gatewaytest.New(t)
	h := newHouse(t, "--oidc-issuer", i.URL, "--oidc-client", "console", "--oidc-audience", "harness", "--oidc-roles", "dev=operator")
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	upgrade := func(token string) http.Header {
		return http.Header{"Authorization": {"Bearer " + token}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
	}
	h.must(t, ask{method: "GET", path: "/sessions", header: bearer(i.Token(nil, nil))})
	before := i.Fetched()
	h.unchanged(t, func() {
		for _, f := range i.Forged() {
			want, send := http.StatusUnauthorized, h.denied
			switch {
			case f.Known:
				want = http.StatusForbidden
			case len(f.Token) > gateway.MaxHeader: // it is no request that could be in the log
				want = http.StatusRequestHeaderFieldsTooLarge
				send = func(t testing.TB, q ask) (got reply) {
					h.refused(t, f.Name, func() { got = h.send(t, q) })
					return got
				}
			}
			for path, header := range map[string]http.Header{"/sessions": bearer(f.Token), "/ws": upgrade(f.Token)} {
				if got := send(t, ask{method: "GET", path: path, header: header}); got.status != want {
					t.Errorf("GET %s with %s: %d %s, want %d", path, f.Name, got.status, got.body, want)
				}
			}
		}
		if n := i.Fetched() - before; n != 0 {
			t.Errorf("forged tokens had keys fetched %d times", n)
		}
		for _, kid := range []string{"../../x", "https://evil.example/keys", "k1\x00"} {
			if got := h.denied(t, ask{method: "GET", path: "/sessions", header: bearer(i.Token(map[string]any{"kid": kid}, nil))}); got.status != http.StatusUnauthorized {
				t.Errorf("kid %q: %d %s", kid, got.status, got.body)
			}
		}
		if n := i.Fetched() - before; n > 1 {
			t.Errorf("unknown keys were looked for %d times", n)
		}
	})
}
