package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"harness"
)

// Subprotocol is the name under which a WebSocket client may offer its token,
// as bearer.TOKEN beside it: pages cannot set headers on a WebSocket. The server
// agrees to this name and never repeats the other.
const (
	Subprotocol  = "harness.v1"
	bearerPrefix = "bearer."
)

// maxCredential bounds a token in a request: a JWT with a few groups.
const maxCredential = 8 << 10

// notInQuery are the names under which people put tokens into a URL, from where
// they get into logs, histories and referrers.
var notInQuery = []string{"token", "access_token", "auth_token", "id_token", "bearer", "authorization", "api_key", "apikey", "password", "secret"}

// credential is what a request brings: a token, or else perhaps a cookie.
type credential struct {
	token string // empty: none
}

// credentialOf finds the token of a request. More than one, or one where none
// belongs, is refused: two readers could choose differently.
func credentialOf(r *http.Request) (credential, error) {
	if err := checkQuery(r.URL); err != nil {
		return credential{}, err
	}
	var found []string
	for _, v := range r.Header.Values("Authorization") {
		scheme, token, ok := strings.Cut(v, " ")
		if !ok || !strings.EqualFold(scheme, "Bearer") {
			return credential{}, unauthenticated("the Authorization is not of the form Bearer TOKEN")
		}
		found = append(found, token)
	}
	for _, v := range r.Header.Values("Sec-Websocket-Protocol") {
		for name := range strings.SplitSeq(v, ",") {
			if token, ok := strings.CutPrefix(strings.TrimSpace(name), bearerPrefix); ok {
				found = append(found, token)
			}
		}
	}
	switch {
	case len(found) == 0:
		return credential{}, nil
	case len(found) > 1:
		return credential{}, unauthenticated("more than one token was sent")
	case !plausible(found[0]):
		return credential{}, unauthenticated("the token is malformed")
	}
	return credential{token: found[0]}, nil
}

// plausible is the alphabet and length of any token; what else there is in a
// header costs not even a hash.
func plausible(token string) bool {
	if token == "" || len(token) > maxCredential {
		return false
	}
	for i := range len(token) {
		c := token[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~+/=", c) >= 0 {
			continue
		}
		return false
	}
	return true
}

// checkQuery refuses a URL that carries a token, even a right one.
func checkQuery(u *url.URL) error {
	if u.RawQuery == "" {
		return nil
	}
	for name, values := range u.Query() {
		for _, no := range notInQuery {
			if strings.EqualFold(name, no) {
				return inQuery()
			}
		}
		for _, v := range values {
			if strings.HasPrefix(v, TokenPrefix) {
				return inQuery()
			}
		}
	}
	return nil
}

func inQuery() error {
	return unauthenticated("a token in a query is refused, because URLs are logged; send Authorization: Bearer TOKEN")
}

func unauthenticated(why string) error {
	return harness.ErrUnauthenticated.Saying(why)
}
