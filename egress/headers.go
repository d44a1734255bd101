package egress

import (
	"net/http"
	"strings"

	"harness/internal/redact"
)

// notSent are headers of an agent that its provider never sees: credentials,
// what is about this connection, and what pretends to come from a proxy. A last
// * is any ending.
var notSent = []string{
	"authorization", "x-api-key", "api-key", "cookie",
	"x-goog-*", // keys, whose account it is, and what of the answer to leave out: the usage
	"proxy-*", "forwarded", "x-forwarded*", "x-real-ip", "x-original-*", "x-rewrite-*", "x-http-method*", "x-method-override", "via",
	"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings",
	"host", "content-length", "expect", "accept-encoding", "content-encoding",
}

// notReturned are headers of a provider that its agent never sees.
var notReturned = []string{
	"set-cookie*", "location", "refresh", "alt-svc", "strict-transport-security", "clear-site-data", "nel", "report-to", "reporting-endpoints",
	"proxy-*", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length", "content-encoding", "www-authenticate",
	"authorization", "x-api-key", "x-goog-api-key",
}

// copyHeaders adds to dst the headers of src that are not in the list, nor named
// by Connection.
func copyHeaders(dst, src http.Header, not []string) {
	var named []string
	for _, v := range src["Connection"] {
		for n := range strings.SplitSeq(v, ",") {
			named = append(named, canonical(strings.TrimSpace(n)))
		}
	}
	for name, values := range src {
		if n := canonical(name); !listed(n, not) && !listed(n, named) {
			dst[name] = values
		}
	}
}

// canonical is how the most lenient server reads a name.
func canonical(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

func listed(name string, list []string) bool {
	for _, l := range list {
		prefix, open := strings.CutSuffix(l, "*")
		if name == l || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// cleanHeaders takes a key out of headers.
func cleanHeaders(h http.Header, key string, r *redact.Redactor) {
	key = strings.ToLower(key)
	for name, values := range h {
		if strings.Contains(strings.ToLower(name), key) { // the case of names is nobody's
			delete(h, name)
			continue
		}
		for i, v := range values {
			values[i] = r.Known(v)
		}
	}
}
