package gateway_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/gateway"
	"harness/gateway/gatewaytest"
)

// issuer is a provider and what a gateway is told of it.
type issuer struct {
	*gatewaytest.Issuer
	t testing.TB
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	return &issuer{gatewaytest.New(t), t}
}

func (i *issuer) config() gateway.ProviderConfig {
	return gateway.ProviderConfig{
		Issuer: i.URL, Audience: "harness", ClientID: "console",
		Roles: map[string]harness.CallerRole{"dev": harness.Operator, "lead": harness.Approver, "root": harness.Admin},
	}
}

func (i *issuer) open() *gateway.Provider {
	i.t.Helper()
	p, err := gateway.OpenProvider(i.t.Context(), i.config())
	if err != nil {
		i.t.Fatal(err)
	}
	return p
}

func TestATokenOfTheProviderIsACaller(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	for name, c := range map[string]struct {
		change gatewaytest.Claims
		want   harness.Caller
	}{
		"plain":           {nil, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Operator}},
		"highest role":    {gatewaytest.Claims{"roles": []string{"dev", "unknown", "lead"}}, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Approver}},
		"role as a word":  {gatewaytest.Claims{"roles": "root"}, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Admin}},
		"unverified mail": {gatewaytest.Claims{"email_verified": false}, harness.Caller{Name: "alice", User: "alice", Role: harness.Operator}},
		"many audiences":  {gatewaytest.Claims{"aud": []string{"x", "harness"}, "azp": "console"}, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Operator}},
		"nearly valid":    {gatewaytest.Claims{"nbf": time.Now().Add(time.Minute).Unix()}, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Operator}}, // clocks differ
	} {
		got, err := p.Caller(t.Context(), i.Token(nil, c.change))
		if got.Expires.Before(time.Now().Add(50 * time.Minute)) {
			t.Errorf("%s: expires %v", name, got.Expires)
		}
		got.Expires = time.Time{}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := p.Caller(t.Context(), i.Token(map[string]any{"alg": "ES256", "kid": "ec"}, nil)); err != nil {
		t.Errorf("ES256: %+v, %v", got, err)
	}
	odd, err := p.Caller(t.Context(), i.Token(nil, gatewaytest.Claims{"sub": "auth0|käthe"}))
	if err != nil || !strings.HasPrefix(odd.User, "usr_") || harness.CheckID("user", odd.User) != nil {
		t.Errorf("an odd user: %+v, %v", odd, err)
	}
	if n := i.Fetched(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// TestForgedTokensAreRefused is attack 18.
func TestForgedTokensAreRefused(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	if _, err := p.Caller(t.Context(), i.Token(nil, nil)); err != nil {
		t.Fatal(err)
	}
	before := i.Fetched()
	for _, f := range i.Forged() {
		want := harness.ErrUnauthenticated
		if f.Known {
			want = harness.ErrForbidden
		}
		if c, err := p.Caller(t.Context(), f.Token); !errors.Is(err, want) || c != (harness.Caller{}) {
			t.Errorf("%s: %+v, %v", f.Name, c, err)
		}
	}
	if n := i.Fetched(); n != before {
		t.Errorf("forged tokens made us fetch keys %d times", n-before)
	}
}

// TestAnAlgorithmIsAcceptedIfItIsListed: of the forged tokens one lacks nothing
// else.
func TestAnAlgorithmIsAcceptedIfItIsListed(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	c := i.config()
	c.Algorithms = []string{"RS256", "RS512"}
	p, err := gateway.OpenProvider(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var taken []string
	for _, f := range i.Forged() {
		if _, err := p.Caller(t.Context(), f.Token); err == nil {
			taken = append(taken, f.Name)
		}
	}
	if !slices.Equal(taken, []string{"RS512 not listed"}) {
		t.Errorf("accepted: %v", taken)
	}
}

// TestUnknownKeysAreLookedForOnce: a thousand tokens with keys that nobody has
// cost one request to the provider; keys that it has changed are found.
func TestUnknownKeysAreLookedForOnce(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	for _, kid := range []string{"k9", "../../x", "k9", "k10"} {
		if _, err := p.Caller(t.Context(), i.Token(map[string]any{"kid": kid}, nil)); !errors.Is(err, harness.ErrUnauthenticated) {
			t.Errorf("%s: %v", kid, err)
		}
	}
	if n := i.Fetched(); n != 1 {
		t.Errorf("%d requests for keys", n)
	}
}

func TestKeysRotate(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	old := i.Token(nil, nil)
	if _, err := p.Caller(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	i.Rotate("k2")
	fresh := i.Token(nil, nil)
	if _, err := p.Caller(t.Context(), fresh); err == nil {
		t.Error("keys were fetched twice within a moment")
	}
	p.Passed()
	// The look that was refused may still be ending, and who comes meanwhile is
	// told its result.
	await(t, func() bool { _, err := p.Caller(t.Context(), fresh); return err == nil })
	if _, err := p.Caller(t.Context(), i.Token(map[string]any{"kid": "k1"}, nil)); err == nil {
		t.Error("a key that was withdrawn is still good")
	}
}

func TestAVerifiedTokenExpires(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	var token string
	good := func(life time.Duration) error {
		token = i.Token(nil, gatewaytest.Claims{"exp": time.Now().Add(life).Unix()})
		_, err := p.Caller(t.Context(), token)
		return err
	}
	if good(2*time.Second) != nil { // a slow machine may take that long to get there
		if err := good(20 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
	await(t, func() bool { _, err := p.Caller(t.Context(), token); return errors.Is(err, harness.ErrUnauthenticated) })
}

func TestAProviderThatProvesNothingIsRefused(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	for name, change := range map[string]func(*gateway.ProviderConfig){
		"none":          func(c *gateway.ProviderConfig) { c.Algorithms = []string{"none"} },
		"shared secret": func(c *gateway.ProviderConfig) { c.Algorithms = []string{"RS256", "HS256"} },
		"no audience":   func(c *gateway.ProviderConfig) { c.Audience, c.ClientID = "", "" },
		"no issuer":     func(c *gateway.ProviderConfig) { c.Issuer = "" },
		"other issuer":  func(c *gateway.ProviderConfig) { c.Issuer += "/" },
		"a bad role":    func(c *gateway.ProviderConfig) { c.Roles = map[string]harness.CallerRole{"x": "root"} },
		"a bad default": func(c *gateway.ProviderConfig) { c.Default = "root" },
	} {
		cfg := i.config()
		change(&cfg)
		if _, err := gateway.OpenProvider(t.Context(), cfg); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

// login goes the way of a browser, and returns the callback's address.
func (s *site) login(jar map[string]string) string {
	s.t.Helper()
	resp := s.do(request{method: "GET", path: "/login/provider?next=/sessions"})
	for _, c := range resp.Cookies() {
		jar[c.Name] = c.Value
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
			s.t.Errorf("cookie %+v", c)
		}
	}
	away := resp.Header.Get("Location")
	r, err := http.NewRequest("GET", away, nil)
	if err != nil || resp.StatusCode != http.StatusSeeOther || !strings.Contains(away, "code_challenge_method=S256") {
		s.t.Fatalf("%d to %s: %v", resp.StatusCode, away, err)
	}
	back, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	back.Body.Close()
	return strings.TrimPrefix(back.Header.Get("Location"), "http://"+s.host)
}

func cookies(jar map[string]string) map[string][]string {
	var all []string
	for k, v := range jar {
		all = append(all, k+"="+v)
	}
	return one("Cookie", strings.Join(all, "; "))
}

func TestABrowserLogsInAtTheProvider(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	s := newSite(t, gateway.AuthOptions{Provider: p}, gateway.EdgeOptions{})
	if err := s.logins.MountProvider(s.edge, p, "http://"+s.host); err != nil {
		t.Fatal(err)
	}

	jar := map[string]string{}
	callback := s.login(jar)
	for name, q := range map[string]request{
		"another browser": {method: "GET", path: s.login(map[string]string{}), header: cookies(jar)},
		"no cookie":       {method: "GET", path: s.login(map[string]string{})},
		"another state":   {method: "GET", path: strings.Replace(callback, "state=", "state=x", 1), header: cookies(jar)},
		"no code":         {method: "GET", path: "/login/callback?state=x&error=denied", header: cookies(jar)},
	} {
		if resp := s.do(q); resp.StatusCode != 401 {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
	resp := s.do(request{method: "GET", path: callback, header: cookies(jar)})
	page, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 200 || !strings.Contains(string(page), `url=/sessions"`) {
		t.Fatalf("%d %s", resp.StatusCode, page)
	}
	for _, c := range resp.Cookies() {
		if c.Name == s.logins.CookieName() {
			jar[c.Name] = c.Value
			if c.SameSite != http.SameSiteStrictMode || !c.HttpOnly {
				t.Errorf("cookie %+v", c)
			}
		}
	}
	who := s.do(request{method: "GET", path: "/whoami", header: cookies(jar)})
	if b, _ := io.ReadAll(who.Body); who.StatusCode != 200 || !strings.Contains(string(b), `"user":"alice"`) {
		t.Errorf("%d %s", who.StatusCode, b)
	}
	if resp := s.do(request{method: "GET", path: callback, header: cookies(jar)}); resp.StatusCode != 401 {
		t.Errorf("the callback a second time: %d", resp.StatusCode)
	}

	// Somebody else's ID token, put under this login.
	i.Misname("another")
	jar = map[string]string{}
	callback = s.login(jar)
	if resp := s.do(request{method: "GET", path: callback, header: cookies(jar)}); resp.StatusCode != 401 {
		t.Errorf("another nonce: %d", resp.StatusCode)
	}

	// A token of the provider is good as a bearer too, and one that is not costs
	// no signature once its sender has failed too often.
	if resp := s.do(request{method: "GET", path: "/look", header: one("Authorization", "Bearer "+i.Token(nil, nil))}); resp.StatusCode != 200 {
		t.Errorf("bearer: %d", resp.StatusCode)
	}
	last := 0
	for range 60 {
		last = s.do(request{method: "GET", path: "/look", header: one("Authorization", "Bearer ey.e.e")}).StatusCode
	}
	if last != 429 {
		t.Errorf("after many failures: %d", last)
	}
}
