package gateway_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/gateway"
)

// issuer is an identity provider: keys, discovery, authorisation with PKCE.
type issuer struct {
	t   testing.TB
	web *httptest.Server

	mu      sync.Mutex // guards what follows
	keys    map[string]*rsa.PrivateKey
	ec      *ecdsa.PrivateKey
	fetches int
	codes   map[string]url.Values // what was asked with the code
	nonce   string                // replaces the one that was asked for
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	i := &issuer{t: t, keys: map[string]*rsa.PrivateKey{}, codes: map[string]url.Values{}}
	i.ec, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	i.rotate("k1")
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{
			"issuer": i.web.URL, "jwks_uri": i.web.URL + "/keys", "authorization_endpoint": i.web.URL + "/auth", "token_endpoint": i.web.URL + "/token",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		})
	})
	mux.HandleFunc("/keys", i.serveKeys)
	mux.HandleFunc("/auth", i.serveAuth)
	mux.HandleFunc("/token", i.serveToken)
	i.web = httptest.NewServer(mux)
	t.Cleanup(i.web.Close)
	return i
}

func (i *issuer) rotate(kid string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.keys)
	i.keys[kid] = key
}

func (i *issuer) fetched() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

func (i *issuer) serveKeys(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fetches++
	b64 := base64.RawURLEncoding.EncodeToString
	keys := []map[string]string{{"kty": "EC", "kid": "ec", "use": "sig", "alg": "ES256", "crv": "P-256", "x": b64(i.ec.X.FillBytes(make([]byte, 32))), "y": b64(i.ec.Y.FillBytes(make([]byte, 32)))}}
	for kid, k := range i.keys {
		keys = append(keys, map[string]string{"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())})
	}
	json.NewEncoder(w).Encode(map[string]any{"keys": keys})
}

// serveAuth logs everybody in, and sends them back with a code.
func (i *issuer) serveAuth(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	code := fmt.Sprintf("code-%d", time.Now().UnixNano())
	i.mu.Lock()
	i.codes[code] = q
	i.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?code="+code+"&state="+q.Get("state"), http.StatusFound)
}

// serveToken takes a code back from who knows the verifier.
func (i *issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	i.mu.Lock()
	q, ok := i.codes[r.Form.Get("code")]
	delete(i.codes, r.Form.Get("code"))
	nonce := i.nonce
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	if !ok || q.Get("code_challenge_method") != "S256" || base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge") {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	if nonce == "" {
		nonce = q.Get("nonce")
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"access_token": "opaque", "token_type": "Bearer", "id_token": i.token(nil, claims{"aud": "console", "nonce": nonce})})
}

type claims map[string]any

// token is a good token, but for what is changed.
func (i *issuer) token(header map[string]any, change claims) string {
	i.t.Helper()
	now := time.Now()
	head := map[string]any{"alg": "RS256", "typ": "JWT"}
	body := claims{"iss": i.web.URL, "aud": "harness", "sub": "alice", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "roles": []string{"dev"}, "email": "a@b.c", "email_verified": true}
	i.mu.Lock()
	defer i.mu.Unlock()
	for kid := range i.keys {
		head["kid"] = kid
	}
	for k, v := range header {
		head[k] = v
	}
	for k, v := range change {
		if v == nil {
			delete(body, k)
		} else {
			body[k] = v
		}
	}
	h, _ := json.Marshal(head)
	b, _ := json.Marshal(body)
	text := base64.RawURLEncoding.EncodeToString(h) + "." + base64.RawURLEncoding.EncodeToString(b)
	return text + "." + base64.RawURLEncoding.EncodeToString(i.sign(head, []byte(text)))
}

func (i *issuer) sign(head map[string]any, text []byte) []byte {
	sum := sha256.Sum256(text)
	kid, _ := head["kid"].(string)
	switch head["alg"] {
	case "none":
		return nil
	case "HS256": // with the public key as the secret
		var pub []byte
		for _, k := range i.keys {
			der, _ := x509.MarshalPKIXPublicKey(&k.PublicKey)
			pub = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		}
		m := hmac.New(sha256.New, pub)
		m.Write(text)
		return m.Sum(nil)
	case "ES256":
		r, s, _ := ecdsa.Sign(rand.Reader, i.ec, sum[:])
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
	key := i.keys[kid]
	if key == nil {
		key, _ = rsa.GenerateKey(rand.Reader, 2048) // somebody else's
	}
	sig, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return sig
}

func (i *issuer) config() gateway.ProviderConfig {
	return gateway.ProviderConfig{
		Issuer: i.web.URL, Audience: "harness", ClientID: "console",
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
		change claims
		want   harness.Caller
	}{
		"plain":           {nil, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Operator}},
		"highest role":    {claims{"roles": []string{"dev", "unknown", "lead"}}, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Approver}},
		"role as a word":  {claims{"roles": "root"}, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Admin}},
		"unverified mail": {claims{"email_verified": false}, harness.Caller{Name: "alice", User: "alice", Role: harness.Operator}},
		"many audiences":  {claims{"aud": []string{"x", "harness"}, "azp": "console"}, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Operator}},
		"nearly valid":    {claims{"nbf": time.Now().Add(time.Minute).Unix()}, harness.Caller{Name: "a@b.c", User: "alice", Role: harness.Operator}}, // clocks differ
	} {
		got, err := p.Caller(t.Context(), i.token(nil, c.change))
		if got.Expires.Before(time.Now().Add(50 * time.Minute)) {
			t.Errorf("%s: expires %v", name, got.Expires)
		}
		got.Expires = time.Time{}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := p.Caller(t.Context(), i.token(map[string]any{"alg": "ES256", "kid": "ec"}, nil)); err != nil {
		t.Errorf("ES256: %+v, %v", got, err)
	}
	odd, err := p.Caller(t.Context(), i.token(nil, claims{"sub": "auth0|käthe"}))
	if err != nil || !strings.HasPrefix(odd.User, "usr_") || harness.CheckID("user", odd.User) != nil {
		t.Errorf("an odd user: %+v, %v", odd, err)
	}
	if n := i.fetched(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// TestForgedTokensAreRefused is attack 18.
func TestForgedTokensAreRefused(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	if _, err := p.Caller(t.Context(), i.token(nil, nil)); err != nil {
		t.Fatal(err)
	}
	good := i.token(nil, claims{"jti": "other"})
	before := i.fetched()
	parts := strings.Split(good, ".")
	other := strings.Split(i.token(nil, claims{"sub": "root"}), ".")
	for name, token := range map[string]string{
		"alg none":               i.token(map[string]any{"alg": "none"}, nil),
		"alg None":               i.token(map[string]any{"alg": "None"}, nil),
		"HS256 with public key":  i.token(map[string]any{"alg": "HS256"}, nil),
		"RS512 not listed":       i.token(map[string]any{"alg": "RS512"}, nil),
		"wrong audience":         i.token(nil, claims{"aud": "other"}),
		"no audience":            i.token(nil, claims{"aud": nil}),
		"audience prefix":        i.token(nil, claims{"aud": "harness2"}),
		"wrong issuer":           i.token(nil, claims{"iss": "https://evil.example"}),
		"issuer with a slash":    i.token(nil, claims{"iss": i.web.URL + "/"}),
		"expired":                i.token(nil, claims{"exp": time.Now().Add(-time.Second).Unix()}),
		"no expiry":              i.token(nil, claims{"exp": nil}),
		"expiry of another type": i.token(nil, claims{"exp": "never"}),
		"jku":                    i.token(map[string]any{"jku": "https://evil.example/keys"}, nil),
		"jwk":                    i.token(map[string]any{"jwk": map[string]string{"kty": "RSA"}}, nil),
		"crit":                   i.token(map[string]any{"crit": []string{"x"}}, nil),
		"another's body":         parts[0] + "." + other[1] + "." + parts[2],
		"no signature":           parts[0] + "." + parts[1] + ".",
		"cut":                    good[:len(good)-10],
		"1 MB":                   "ey" + strings.Repeat("A", 1<<20) + ".e.e",
		"dots":                   "ey..",
	} {
		if c, err := p.Caller(t.Context(), token); !errors.Is(err, harness.ErrUnauthenticated) || c != (harness.Caller{}) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	for name, token := range map[string]string{
		"not yet valid":  i.token(nil, claims{"nbf": time.Now().Add(10 * time.Minute).Unix()}),
		"for another":    i.token(nil, claims{"aud": []string{"x", "harness"}, "azp": "x"}),
		"no user":        i.token(nil, claims{"sub": nil}),
		"user of a type": i.token(nil, claims{"sub": 7}),
	} {
		if _, err := p.Caller(t.Context(), token); !errors.Is(err, harness.ErrUnauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]claims{"no role": {"roles": nil}, "unknown role": {"roles": []string{"x"}}, "role of a type": {"roles": map[string]string{"dev": "dev"}}} {
		if _, err := p.Caller(t.Context(), i.token(nil, change)); !errors.Is(err, harness.ErrForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := i.fetched(); n != before {
		t.Errorf("forged tokens made us fetch keys %d times", n-before)
	}
}

// TestUnknownKeysAreLookedForOnce: a thousand tokens with keys that nobody has
// cost one request to the provider; keys that it has changed are found.
func TestUnknownKeysAreLookedForOnce(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	for _, kid := range []string{"k9", "../../x", "k9", "k10"} {
		if _, err := p.Caller(t.Context(), i.token(map[string]any{"kid": kid}, nil)); !errors.Is(err, harness.ErrUnauthenticated) {
			t.Errorf("%s: %v", kid, err)
		}
	}
	if n := i.fetched(); n != 1 {
		t.Errorf("%d requests for keys", n)
	}
}

func TestKeysRotate(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	old := i.token(nil, nil)
	if _, err := p.Caller(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	i.rotate("k2")
	fresh := i.token(nil, nil)
	if _, err := p.Caller(t.Context(), fresh); err == nil {
		t.Error("keys were fetched twice within a moment")
	}
	p.Passed()
	// The look that was refused may still be ending, and who comes meanwhile is
	// told its result.
	await(t, func() bool { _, err := p.Caller(t.Context(), fresh); return err == nil })
	if _, err := p.Caller(t.Context(), i.token(map[string]any{"kid": "k1"}, nil)); err == nil {
		t.Error("a key that was withdrawn is still good")
	}
}

func TestAVerifiedTokenExpires(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := i.open()
	token := i.token(nil, claims{"exp": time.Now().Add(2 * time.Second).Unix()})
	if _, err := p.Caller(t.Context(), token); err != nil {
		t.Fatal(err)
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
	i.mu.Lock()
	i.nonce = "another"
	i.mu.Unlock()
	jar = map[string]string{}
	callback = s.login(jar)
	if resp := s.do(request{method: "GET", path: callback, header: cookies(jar)}); resp.StatusCode != 401 {
		t.Errorf("another nonce: %d", resp.StatusCode)
	}

	// A token of the provider is good as a bearer too, and one that is not costs
	// no signature once its sender has failed too often.
	if resp := s.do(request{method: "GET", path: "/look", header: one("Authorization", "Bearer "+i.token(nil, nil))}); resp.StatusCode != 200 {
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
