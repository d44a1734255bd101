package egress

import (
	"encoding/json"
	"net/http"
	"slices"
)

// refusal is an answer of the proxy's own.
type refusal struct {
	status int
	reason string // for the audit: one word or a few
	text   string // for the agent
}

func (r *refusal) Error() string { return r.text }

// Refusals whose words are always the same.
var (
	refuseHost       = &refusal{http.StatusForbidden, "host", "this server is only for its own host"}
	refuseForm       = &refusal{http.StatusForbidden, "absolute form", "this server forwards nothing to other hosts"}
	refuseTunnel     = &refusal{http.StatusForbidden, "no tunnels", "tunnels are not allowed here"}
	refuseToken      = &refusal{http.StatusUnauthorized, "token", "the run token is missing or not valid"}
	refuseProxyAuth  = &refusal{http.StatusProxyAuthRequired, "token", "the run token is missing or not valid"}
	refuseProvider   = &refusal{http.StatusUnauthorized, "other provider", "the run token is for another provider"}
	refuseRoute      = &refusal{http.StatusForbidden, "path", "this method and path are not allowed here"}
	refuseQuery      = &refusal{http.StatusForbidden, "query", "these parameters are not allowed here"}
	refuseUpgrade    = &refusal{http.StatusForbidden, "upgrade", "the protocol cannot be changed here"}
	refuseModel      = &refusal{http.StatusForbidden, "model", "the run token is not for this model"}
	refuseBackground = &refusal{http.StatusForbidden, "background", "an answer in the background cannot be counted"}
	refuseLength     = &refusal{http.StatusLengthRequired, "length", "a request needs a Content-Length"}
	refuseSize       = &refusal{http.StatusRequestEntityTooLarge, "size", "the request is too large"}
	refuseEncoding   = &refusal{http.StatusUnsupportedMediaType, "encoding", "a request must be JSON, not encoded"}
	refuseBody       = &refusal{http.StatusBadRequest, "body", "the request is not a JSON object with one meaning"}
	refuseShort      = &refusal{http.StatusBadRequest, "cut off", "the request did not come whole, or too slowly"}
	refuseSpent      = &refusal{http.StatusTooManyRequests, "token budget", "the token budget of this run is used up; asking again does not help"}
	refuseNumbered   = &refusal{http.StatusTooManyRequests, "request budget", "this run has made all the requests it may; asking again does not help"}
	refuseMany       = &refusal{http.StatusTooManyRequests, "open requests", "too many requests of this run are open"}
	refuseFull       = &refusal{http.StatusServiceUnavailable, "memory", "too many requests are open"}
	refuseKey        = &refusal{http.StatusServiceUnavailable, "no key", "the server has no usable key for this provider"}
	refuseTheirs     = &refusal{http.StatusUnauthorized, "key refused", "the provider does not accept the server's key"}
	refuseRedirect   = &refusal{http.StatusBadGateway, "redirect", "the provider answered with a redirect, which is not followed"}
	refuseCoded      = &refusal{http.StatusBadGateway, "encoded", "the provider answered in an encoding that was not asked for"}
	refuseReach      = &refusal{http.StatusBadGateway, "unreachable", "the provider cannot be reached"}
	refuseAddress    = &refusal{http.StatusForbidden, "address", "the host's address is not allowed"}
	refuseDomain     = &refusal{http.StatusForbidden, "domain", "the host is not on the list of allowed domains"}
	refusePort       = &refusal{http.StatusForbidden, "port", "only port 443 is allowed"}
)

// words are the names of statuses in the dialects: the type of an error for
// Messages, type and code for OpenAI, the status for Google.
var words = map[int]struct{ messages, kind, code, status string }{
	http.StatusBadRequest:            {"invalid_request_error", "invalid_request_error", "", "INVALID_ARGUMENT"},
	http.StatusUnauthorized:          {"authentication_error", "invalid_request_error", "invalid_api_key", "UNAUTHENTICATED"},
	http.StatusForbidden:             {"permission_error", "invalid_request_error", "forbidden", "PERMISSION_DENIED"},
	http.StatusProxyAuthRequired:     {"authentication_error", "invalid_request_error", "invalid_api_key", "UNAUTHENTICATED"},
	http.StatusLengthRequired:        {"invalid_request_error", "invalid_request_error", "length_required", "INVALID_ARGUMENT"},
	http.StatusRequestEntityTooLarge: {"request_too_large", "invalid_request_error", "request_too_large", "INVALID_ARGUMENT"},
	http.StatusUnsupportedMediaType:  {"invalid_request_error", "invalid_request_error", "unsupported_media_type", "INVALID_ARGUMENT"},
	http.StatusTooManyRequests:       {"rate_limit_error", "insufficient_quota", "insufficient_quota", "RESOURCE_EXHAUSTED"},
	http.StatusBadGateway:            {"api_error", "server_error", "", "UNAVAILABLE"},
	http.StatusServiceUnavailable:    {"overloaded_error", "server_error", "server_is_overloaded", "UNAVAILABLE"},
}

// lasting are refusals that stay, though their status is one that may pass.
var lasting = []*refusal{refuseSpent, refuseNumbered, refuseKey, refuseRedirect, refuseCoded}

// in is the status of the refusal in a dialect. Programs of Google come again for
// minutes after every status that may pass, whatever the answer says.
func (r *refusal) in(d Dialect) int {
	if d == DialectGoogle && slices.Contains(lasting, r) {
		return http.StatusForbidden
	}
	return r.status
}

// body is the refusal in the words of a dialect.
func (r *refusal) body(d Dialect) []byte {
	w := words[r.in(d)]
	type object map[string]any
	var v object
	switch d {
	case DialectOpenAI:
		e := object{"message": r.text, "type": w.kind, "param": nil, "code": nil}
		if w.code != "" {
			e["code"] = w.code
		}
		v = object{"error": e}
	case DialectGoogle:
		v = object{"error": object{"code": r.in(d), "message": r.text, "status": w.status}}
	default:
		v = object{"type": "error", "error": object{"type": w.messages, "message": r.text}}
	}
	b, _ := json.Marshal(v) // strings and a number
	return append(b, '\n')
}

// write answers with the refusal. The SDKs of Anthropic and OpenAI keep
// to X-Should-Retry, so that nobody knocks again and again at what stays shut; no
// time to wait is given, for none would help.
func (r *refusal) write(w http.ResponseWriter, d Dialect) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if r.status < http.StatusInternalServerError && r != refuseMany {
		h.Set("X-Should-Retry", "false")
	}
	if r.status == http.StatusProxyAuthRequired {
		h.Set("Proxy-Authenticate", `Basic realm="egress"`)
	}
	h.Set("Connection", "close") // whatever else is in it was not asked for
	w.WriteHeader(r.in(d))
	_, _ = w.Write(r.body(d)) // whoever left has seen enough
}
