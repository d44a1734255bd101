package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"html"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"harness"
)

// Bounds of logins at a provider.
const (
	flowFor  = 10 * time.Minute // to find the password
	maxFlows = 256
)

// flows are logins that are on their way to the provider and back.
type flows struct {
	p      *Provider
	logins *Logins
	auth   *Auth
	base   string // of this server, as browsers see it

	mu   sync.Mutex // guards open
	open map[[32]byte]*flow
}

// flow is bound to a browser by a cookie, to the provider's answer by state, to
// its token by nonce, and to its code by verifier (PKCE).
type flow struct {
	browser         [32]byte
	nonce, verifier string
	next            string
	until           time.Time
}

// MountProvider adds the routes of logging in at a provider; base is where
// browsers find this server. The provider must know base + /login/callback.
func (l *Logins) MountProvider(e *Edge, p *Provider, base string) error {
	if p.cfg.ClientID == "" {
		return fmt.Errorf("identity provider: logins need a client id: %w", harness.ErrInvalid)
	}
	f := &flows{p: p, logins: l, auth: e.auth, base: base, open: map[[32]byte]*flow{}}
	// Who logs in is not known yet.
	e.Handle(Route{Pattern: "GET /login/provider", Public: true}, http.HandlerFunc(f.leave))
	e.Handle(Route{Pattern: "GET /login/callback", Public: true}, http.HandlerFunc(f.back))
	return nil
}

func (f *flows) config() oauth2.Config {
	c := f.p.oauth
	c.RedirectURL = f.base + "/login/callback"
	return c
}

func (f *flows) cookieName() string { return f.logins.CookieName() + "_flow" }

// cookie must come back from another site, so it is Lax where the login's is
// Strict; it says nothing but that it is the same browser.
func (f *flows) cookie(value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: f.cookieName(), Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: f.logins.names.secure,
	}
}

// leave sends a browser to the provider.
func (f *flows) leave(w http.ResponseWriter, r *http.Request) {
	state, browser := random(32), random(32)
	o := &flow{
		browser: sha256.Sum256([]byte(browser)), nonce: random(32), verifier: oauth2.GenerateVerifier(),
		next: LocalPath(r.URL.Query().Get("next")), until: time.Now().Add(flowFor),
	}
	f.mu.Lock()
	for len(f.open) >= maxFlows {
		h, _ := first(f.open, func(*flow) bool { return true }, func(o *flow) time.Time { return o.until })
		delete(f.open, h)
	}
	f.open[sha256.Sum256([]byte(state))] = o
	f.mu.Unlock()
	http.SetCookie(w, f.cookie(browser, int(flowFor/time.Second)))
	c := f.config()
	http.Redirect(w, r, c.AuthCodeURL(state, oidc.Nonce(o.nonce), oauth2.S256ChallengeOption(o.verifier)), http.StatusSeeOther)
}

// back takes a browser in that comes from the provider.
func (f *flows) back(w http.ResponseWriter, r *http.Request) {
	c, next, err := f.finish(r)
	secret := ""
	if err == nil {
		secret, err = f.logins.Begin(c)
	}
	if err != nil {
		refuse(w, f.auth.failed(r, err))
		return
	}
	http.SetCookie(w, f.cookie("", -1))
	http.SetCookie(w, f.logins.cookie(secret))
	// A redirect would still count as coming from the provider, and a Strict
	// cookie would stay at home.
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=%s\"><title>Harness</title>\n", html.EscapeString(next))
}

func (f *flows) finish(r *http.Request) (harness.Caller, string, error) {
	q := r.URL.Query()
	o := f.take(q.Get("state"))
	cookies := r.CookiesNamed(f.cookieName())
	if o == nil || len(cookies) != 1 {
		return harness.Caller{}, "", unauthenticated("this login was not begun here, or too long ago")
	}
	if browser := sha256.Sum256([]byte(cookies[0].Value)); subtle.ConstantTimeCompare(browser[:], o.browser[:]) != 1 {
		return harness.Caller{}, "", unauthenticated("this login was begun by another browser")
	}
	if q.Get("code") == "" {
		return harness.Caller{}, "", unauthenticated("the identity provider did not log you in")
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(r.Context(), f.p.client), providerFor)
	defer cancel()
	cfg := f.config()
	tokens, err := cfg.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(o.verifier))
	if err != nil {
		return harness.Caller{}, "", unauthenticated("the identity provider did not take its code back")
	}
	raw, _ := tokens.Extra("id_token").(string)
	if !jwt(raw) {
		return harness.Caller{}, "", unauthenticated("the identity provider did not say who you are")
	}
	id, err := f.p.login.Verify(ctx, raw)
	if err != nil {
		return harness.Caller{}, "", refusal(err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(o.nonce)) != 1 {
		return harness.Caller{}, "", unauthenticated("the identity provider answered another question")
	}
	c, err := f.p.caller(id)
	c.Expires = time.Time{} // of the token, which was only for this; the login has its own
	return c, o.next, err
}

// take is the flow of a state, once.
func (f *flows) take(state string) *flow {
	h := sha256.Sum256([]byte(state))
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.open[h]
	delete(f.open, h)
	if o == nil || !time.Now().Before(o.until) {
		return nil
	}
	return o
}
