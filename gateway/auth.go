package gateway

import (
	"fmt"
	"net/http"
	"time"

	"harness"
)

// Failures that one party may have at once, and how often after that. A person
// mistypes, a page tries again with an old cookie; both stop before this. Since
// no token can be guessed, the bound is for the cost and for the log: who has
// the right token gets in, however often others at its address have failed.
const (
	failBurst = 20
	failEvery = 6 * time.Second
)

// AuthOptions say by which ways callers are known. Those that are nil are shut.
type AuthOptions struct {
	Tokens   *Tokens
	Logins   *Logins   // cookies of the console
	Provider *Provider // tokens of an identity provider

	// Off lets everybody in as an admin: for a loopback address and a person
	// who tries something by hand. Other sites are still kept out.
	Off bool
}

// Auth finds out who asks.
type Auth struct {
	names *Names
	opts  AuthOptions
	fails *meter
}

// NewAuth knows callers by the ways of opts, on the server that has these names.
func NewAuth(names *Names, opts AuthOptions) *Auth {
	return &Auth{names: names, opts: opts, fails: newMeter(failBurst, failEvery)}
}

// Off reports whether everybody is let in.
func (a *Auth) Off() bool { return a.opts.Off }

// ThrottledError says that somebody has failed too often, and when to try
// again. It is an ErrUnauthenticated.
type ThrottledError struct{ Wait time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("too many failures; try again in %s", e.Wait.Round(time.Second))
}

func (e *ThrottledError) Unwrap() error { return harness.ErrUnauthenticated }

// Authenticate is who sends a request, or ErrUnauthenticated. A request that is
// authenticated by a cookie, which a browser sends by itself, and that changes
// something, must also say that it comes from a page of this server; else it is
// ErrForbidden.
func (a *Auth) Authenticate(r *http.Request) (harness.Caller, error) {
	cred, err := credentialOf(r)
	if err == nil && a.opts.Off {
		return harness.Caller{Role: harness.Admin}, nil // without a name: commands keep the one they came with
	}
	if err == nil {
		var c harness.Caller
		if c, err = a.known(r, cred); err == nil {
			return c, nil
		}
	}
	return harness.Caller{}, a.failed(r, err)
}

// failed counts a failure to authenticate, and says so to who fails too often.
func (a *Auth) failed(r *http.Request, err error) error {
	if harness.AsError(err) != harness.ErrUnauthenticated {
		return err
	}
	now, who := time.Now(), party(r.RemoteAddr)
	if !a.fails.take(now, who) {
		_, wait := a.fails.full(now, who)
		return &ThrottledError{wait}
	}
	return err
}

func (a *Auth) known(r *http.Request, cred credential) (harness.Caller, error) {
	if cred.token != "" {
		if a.opts.Tokens != nil {
			if c, ok := a.opts.Tokens.Caller(cred.token); ok {
				return c, nil
			}
		}
		if a.opts.Provider != nil && jwt(cred.token) {
			if full, wait := a.fails.full(time.Now(), party(r.RemoteAddr)); full && !a.opts.Provider.seen(cred.token) {
				return harness.Caller{}, &ThrottledError{wait} // a signature costs more than a hash
			}
			return a.opts.Provider.Caller(r.Context(), cred.token)
		}
		return harness.Caller{}, unauthenticated("the token is not valid")
	}
	if a.opts.Logins == nil {
		return harness.Caller{}, unauthenticated("no token was sent")
	}
	c, ok := a.opts.Logins.caller(r)
	if !ok {
		return harness.Caller{}, unauthenticated("no token was sent, and no cookie that is valid")
	}
	if changes(r) {
		if err := a.names.fromOurPage(r); err != nil {
			return harness.Caller{}, err
		}
	}
	return c, nil
}

// changes reports whether a request may do more than look. What comes over a
// WebSocket is not seen here, so all of them may.
func changes(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return r.Header.Get("Upgrade") != ""
	}
	return true
}
