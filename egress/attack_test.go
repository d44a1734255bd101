package egress_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"harness/egress"
)

// ask is a request in its own bytes.
func ask(line, headers, body string) string {
	return line + "\r\n" + headers + "Content-Length: " + fmt.Sprint(len(body)) + "\r\n\r\n" + body
}

// codes are the statuses of all answers in a text.
func codes(t *testing.T, text string) (all []int) {
	t.Helper()
	for r := bufio.NewReader(strings.NewReader(text)); ; {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return all
		}
		_ = res.Body.Close()
		all = append(all, res.StatusCode)
	}
}

// TestAttacks is row 43 of the attacks on the server, and its relatives: each is
// refused with its code, its refusal is recorded, and nothing reaches a provider.
func TestAttacks(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	h := build(t, up.URL, egress.Options{
		Forward: &egress.Forward{Domains: []string{"allowed.com", "*.wild.com", "private.com"}},
		Resolve: resolver(map[string]string{"allowed.com": "93.184.216.34", "a.wild.com": "93.184.216.34", "private.com": "10.0.0.7", "metadata.wild.com": "169.254.169.254"}),
	})
	good := h.grant(t, egress.Grant{Session: "ses_a", Provider: "anthropic", Models: []string{"m-1"}, Forward: true})
	other := h.grant(t, egress.Grant{Session: "ses_b", Provider: "openai"})
	_, revoke, err := h.Grant(egress.Grant{Provider: "anthropic"})
	if err != nil {
		t.Fatal(err)
	}
	gone, revokeGone, err := h.Grant(egress.Grant{Provider: "anthropic"})
	if err != nil {
		t.Fatal(err)
	}
	revoke()
	revokeGone()
	expired := h.grant(t, egress.Grant{Provider: "anthropic", Expires: time.Now().Add(-time.Second)})

	const host = "Host: 127.0.0.1:1\r\n"
	body := forms[0].body + "}"
	with := func(token string) string { return host + "X-Api-Key: " + token + "\r\n" }
	connect := func(authority, token string) string {
		return "CONNECT " + authority + " HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("run:"+token)) + "\r\n\r\n"
	}
	const messages = "POST /anthropic/v1/messages HTTP/1.1"
	for _, tc := range []struct {
		name, text string
		want       int
		reason     string // that is recorded; empty: it does not even parse
	}{
		{"connect to a private address", connect("10.0.0.1:443", good), 403, "domain"},
		{"connect to the metadata service", connect("169.254.169.254:443", good), 403, "domain"},
		{"connect to an allowed name that is private", connect("private.com:443", good), 403, "address"},
		{"connect to an allowed name that is the metadata service", connect("metadata.wild.com:443", good), 403, "address"},
		{"connect to loopback", connect("localhost:443", good), 403, "domain"},
		{"connect to IPv6", connect("[::1]:443", good), 403, "domain"},
		{"connect to a decimal address", connect("2130706433:443", good), 403, "domain"},
		{"connect to another name", connect("evil.com:443", good), 403, "domain"},
		{"connect with NUL", connect("attacker\x00.allowed.com:443", good), 400, ""},
		{"connect with an escaped NUL", connect("attacker%00.wild.com:443", good), 400, ""},
		{"connect with a line break", connect("a\n.wild.com:443", good), 400, ""},
		{"connect with a trailing dot", connect("allowed.com.:443", good), 403, "domain"},
		{"connect with an IDN twin", connect("аllowed.com:443", good), 403, "domain"},
		{"connect with a punycode twin", connect("xn--llowed-2nf.com:443", good), 403, "domain"},
		{"connect with punycode below a suffix", connect("xn--80ak6aa92e.wild.com:443", good), 403, "domain"},
		{"connect with another escape", connect("attacker%2ewild.com:443", good), 400, ""},
		{"connect with an underscore", connect("a_b.wild.com:443", good), 403, "domain"},
		{"connect to the suffix itself", connect("wild.com:443", good), 403, "domain"},
		{"connect to what only ends alike", connect("evilwild.com:443", good), 403, "domain"},
		{"connect with a user", connect("allowed.com@evil.com:443", good), 403, "domain"},
		{"connect to port 22", connect("allowed.com:22", good), 403, "port"},
		{"connect to port 0443", connect("allowed.com:0443", good), 403, "port"},
		{"connect in mixed case to port 80", connect("ALLOWED.com:80", good), 403, "port"},
		{"connect without a port", connect("allowed.com", good), 403, "domain"},
		{"connect with a path", "CONNECT /x HTTP/1.1\r\n" + host + "\r\n", 407, "token"},
		{"connect without a token", "CONNECT allowed.com:443 HTTP/1.1\r\nHost: allowed.com\r\n\r\n", 407, "token"},
		{"connect with a wrong token", connect("allowed.com:443", good+"x"), 407, "token"},
		{"connect with an expired token", connect("allowed.com:443", expired), 407, "token"},
		{"connect with a token for providers only", connect("allowed.com:443", other), 403, "no tunnels"},

		{"absolute form to the metadata service", ask("GET http://169.254.169.254/latest HTTP/1.1", with(good), ""), 403, "absolute form"},
		{"absolute form to the proxy", ask("POST http://127.0.0.1:1/anthropic/v1/messages HTTP/1.1", with(good), body), 403, "absolute form"},
		{"https in absolute form", ask("GET https://allowed.com/ HTTP/1.1", with(good), ""), 403, "absolute form"},
		{"another host", ask(messages, "Host: evil.example\r\nX-Api-Key: "+good+"\r\n", body), 403, "host"},
		{"a host that begins alike", ask(messages, "Host: 127.0.0.1.evil.example\r\nX-Api-Key: "+good+"\r\n", body), 403, "host"},
		{"the provider's host", ask(messages, "Host: api.anthropic.com\r\nX-Api-Key: "+good+"\r\n", body), 403, "host"},
		{"two hosts", ask(messages, host+"Host: evil.example\r\nX-Api-Key: "+good+"\r\n", body), 400, ""},
		{"no host", ask(messages, "X-Api-Key: "+good+"\r\n", body), 400, ""},

		{"no token", ask(messages, host, body), 401, "token"},
		{"an empty token", ask(messages, with(""), body), 401, "token"},
		{"another run's token for another provider", ask(messages, with(other), body), 401, "other provider"},
		{"an expired token", ask(messages, with(expired), body), 401, "token"},
		{"a revoked token", ask(messages, with(gone), body), 401, "token"},
		{"a prefix of the token", ask(messages, with(good[:len(good)-1]), body), 401, "token"},
		{"a longer token", ask(messages, with(good+"A"), body), 401, "token"},
		{"the token in other case", ask(messages, with(strings.ToUpper(good)), body), 401, "token"},
		{"the key itself", ask(messages, with(canary), body), 401, "token"},
		{"two tokens", ask(messages, with(good)+"Authorization: Bearer "+other+"\r\n", body), 401, "token"},
		{"basic", ask(messages, host+"Authorization: Basic "+good+"\r\n", body), 401, "token"},
		{"the token in the query", ask("POST /anthropic/v1/messages?key="+good+" HTTP/1.1", host, body), 401, "token"},

		{"another path", ask("POST /anthropic/v1/files HTTP/1.1", with(good), body), 403, "path"},
		{"another provider's path", ask("POST /anthropic/v1/responses HTTP/1.1", with(good), body), 403, "path"},
		{"another method", ask("DELETE /anthropic/v1/messages HTTP/1.1", with(good), ""), 403, "path"},
		{"a method in lower case", ask("post /anthropic/v1/messages HTTP/1.1", with(good), body), 403, "path"},
		{"an unknown provider", ask("POST /nobody/v1/messages HTTP/1.1", with(good), body), 403, "path"},
		{"two slashes", ask("POST /anthropic//v1/messages HTTP/1.1", with(good), body), 403, "path"},
		{"two slashes in front", ask("POST //anthropic/v1/messages HTTP/1.1", with(good), body), 403, "path"},
		{"dots", ask("POST /anthropic/v1/x/../messages HTTP/1.1", with(good), body), 403, "path"},
		{"an escaped slash", ask("POST /anthropic/v1%2Fmessages HTTP/1.1", with(good), body), 403, "path"},
		{"an escaped line break", ask("POST /anthropic/v1/messages%0d%0aX: HTTP/1.1", with(good), body), 403, "path"},
		{"everything", ask("OPTIONS * HTTP/1.1", with(good), ""), 403, "path"},
		{"an upgrade", ask("GET /anthropic/v1/models HTTP/1.1", with(good)+"Connection: upgrade\r\nUpgrade: websocket\r\n", ""), 403, "upgrade"},

		{"another model", ask(messages, with(good), `{"model":"m-2"}`), 403, "model"},
		{"a model twice", ask(messages, with(good), `{"model":"m-1","model":"m-2"}`), 400, "body"},
		{"a model twice, once escaped", ask(messages, with(good), `{"model":"m-1","\u006dodel":"m-2"}`), 400, "body"},
		{"a model in another case", ask(messages, with(good), `{"Model":"m-2"}`), 400, "body"},
		{"a model in both cases", ask(messages, with(good), `{"model":"m-1","MODEL":"m-2"}`), 400, "body"},
		{"a second model to fall back to", ask(messages, with(good), `{"model":"m-1","models":["m-2"]}`), 403, "model"},
		{"an answer in the background", ask(messages, with(good), `{"model":"m-1","background": true}`), 403, "background"},
		{"no model", ask(messages, with(good), `{"x":{"model":"m-1"}}`), 400, "body"},
		{"a model that is no text", ask(messages, with(good), `{"model":["m-1"]}`), 400, "body"},
		{"two bodies", ask(messages, with(good), `{"model":"m-1"}{"model":"m-2"}`), 400, "body"},
		{"a list", ask(messages, with(good), `[{"model":"m-1"}]`), 400, "body"},
		{"no JSON", ask(messages, with(good), "model=m-1"), 400, "body"},
		{"no body", ask(messages, with(good), ""), 400, "body"},
		{"an encoded body", ask(messages, with(good)+"Content-Encoding: gzip\r\n", body), 415, "encoding"},
		{"a body where there is none", ask("GET /anthropic/v1/models HTTP/1.1", with(good), body), 400, "body"},
		{"a body that is too large", messages + "\r\n" + with(good) + "Content-Length: 999999999999\r\n\r\n", 413, "size"},
		{"a body that ends early", messages + "\r\n" + with(good) + "Content-Length: 500\r\n\r\n{", 400, "cut off"},
		{"headers without end", messages + "\r\n" + with(good) + "X: " + strings.Repeat("x", 1<<16) + "\r\n\r\n", 431, ""},
	} {
		t.Run(strings.ReplaceAll(tc.name, " ", "_"), func(t *testing.T) {
			before := len(h.all())
			text := h.raw(t, tc.text)
			if got := codes(t, text); len(got) != 1 || got[0] != tc.want {
				t.Fatalf("got %v, want %d:\n%s", got, tc.want, text)
			}
			if strings.Contains(text, canary) {
				t.Errorf("the key came back:\n%s", text)
			}
			records := h.all()[before:]
			switch {
			case tc.reason == "" && len(records) == 0:
			case tc.reason == "" || len(records) != 1 || records[0].Allowed || records[0].Reason != tc.reason || records[0].Status != tc.want:
				t.Errorf("recorded %+v, want %d for %q", records, tc.want, tc.reason)
			default:
				checkError(t, text)
			}
		})
	}
	if n := len(up.All()); n != 0 {
		t.Errorf("%d requests reached the provider: %+v", n, up.All()[0])
	}
}

// checkError wants a message in the form of a provider.
func checkError(t *testing.T, text string) {
	t.Helper()
	_, body, _ := strings.Cut(text, "\r\n\r\n")
	var e struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.Type != "error" || e.Error.Type == "" || e.Error.Message == "" {
		t.Errorf("the body is no error of the provider: %v %s", err, body)
	}
}

func (h *house) all() []egress.Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]egress.Record(nil), h.records...)
}

func TestWithoutForwardModeThereAreNoTunnels(t *testing.T) {
	t.Parallel()
	h := build(t, "http://127.0.0.1:1", egress.Options{})
	token := h.grant(t, egress.Grant{Provider: "openai"})
	text := h.raw(t, "CONNECT api.openai.com:443 HTTP/1.1\r\nHost: api.openai.com\r\nProxy-Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(":"+token))+"\r\n\r\n")
	if got := codes(t, text); len(got) != 1 || got[0] != 403 {
		t.Errorf("got %s", text)
	}
	if _, _, err := h.Grant(egress.Grant{Provider: "openai", Forward: true}); err == nil {
		t.Error("tunnels were granted")
	}
}

// TestErrorsAreInTheWordsOfTheProvider also wants that nobody tries again.
func TestErrorsAreInTheWordsOfTheProvider(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	h := build(t, up.URL, egress.Options{})
	for _, f := range forms {
		token := h.grant(t, egress.Grant{Provider: f.provider, MaxRequests: 1})
		url := h.address + "/" + f.provider + f.path
		if got := post(t, url, token, f.body+"}"); got.status != 200 {
			t.Fatalf("%s: %+v", f.name, got)
		}
		got := post(t, url, token, f.body+"}")
		const text = `"message":"this run has made all the requests it may; asking again does not help"`
		want := map[string]string{
			"anthropic": `{"error":{` + text + `,"type":"rate_limit_error"},"type":"error"}`,
			"openai":    `{"error":{"code":"insufficient_quota",` + text + `,"param":null,"type":"insufficient_quota"}}`,
			"google":    `{"error":{"code":403,` + text + `,"status":"PERMISSION_DENIED"}}`,
		}[f.provider]
		if got.status != f.spent() || strings.TrimSpace(got.body) != want || got.header.Get("Retry-After") != "" || got.header.Get("X-Should-Retry") != "false" {
			t.Errorf("%s: %d %v\n%s\nwant\n%s", f.name, got.status, got.header, got.body, want)
		}
	}
}
