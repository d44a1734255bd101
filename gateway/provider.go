package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"harness"
)

// Bounds of what a provider can cost.
const (
	providerFor = 10 * time.Second // a request to it; it is asked at start, for new keys, and at logins
	keysEvery   = 10 * time.Second // between two looks for new keys, however many tokens name unknown ones
	maxVerified = 4096             // tokens whose signature need not be computed again
	maxClaims   = 64 << 10         // of a token; at a login it comes from the provider, and no head bounds it
)

// ProviderConfig says which tokens of an identity provider are good for what.
type ProviderConfig struct {
	Issuer   string // exactly as its tokens say
	Audience string // of tokens for this server; default: ClientID

	// Algorithms that signatures may have. Default RS256 and ES256. Those with
	// a shared secret and none are refused in any case.
	Algorithms []string

	UserClaim string // whose sessions; default sub
	NameClaim string // for logs; default: email, if it is verified, else the user
	RoleClaim string // a word or a list of them; default roles
	// Roles says which role comes with a value of RoleClaim; the highest
	// counts. A caller with none of them gets Default, or is refused.
	Roles   map[string]harness.CallerRole
	Default harness.CallerRole

	// For logins of the console.
	ClientID     string
	ClientSecret string // empty: a public client, which PKCE makes safe
	Scopes       []string

	Client *http.Client // default: one with a time limit that follows no redirect
}

// Provider is an identity provider whose tokens are accepted.
type Provider struct {
	cfg    ProviderConfig
	client *http.Client
	looks  *patient // for its keys
	verify *oidc.IDTokenVerifier
	login  *oidc.IDTokenVerifier // of ID tokens, which are for the client
	oauth  oauth2.Config

	mu       sync.Mutex // guards verified
	verified map[[32]byte]*harness.Caller
}

// OpenProvider asks the provider for its addresses and keys.
func OpenProvider(ctx context.Context, cfg ProviderConfig) (*Provider, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	p := &Provider{cfg: cfg, client: cfg.Client, verified: map[[32]byte]*harness.Caller{}}
	if p.client == nil {
		p.client = &http.Client{Timeout: providerFor, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("identity provider %s: %w", cfg.Issuer, err)
	}
	var more struct {
		Keys string `json:"jwks_uri"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, fmt.Errorf("identity provider %s: %w", cfg.Issuer, err)
	}
	if err := checkEndpoints(cfg.Issuer, more.Keys, found.Endpoint().TokenURL, found.Endpoint().AuthURL); err != nil {
		return nil, err
	}
	p.looks = &patient{next: p.client.Transport, every: keysEvery}
	keys := &patientKeys{set: oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), &http.Client{
		Timeout: p.client.Timeout, CheckRedirect: p.client.CheckRedirect, Transport: p.looks,
	}), more.Keys)}
	verifier := func(audience string) *oidc.IDTokenVerifier {
		return oidc.NewVerifier(cfg.Issuer, keys, &oidc.Config{ClientID: audience, SupportedSigningAlgs: cfg.Algorithms})
	}
	p.verify, p.login = verifier(cfg.Audience), verifier(cfg.ClientID)
	p.oauth = oauth2.Config{ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, Endpoint: found.Endpoint(), Scopes: cfg.Scopes}
	return p, nil
}

// complete fills in the defaults and refuses what would let anybody in.
func (c ProviderConfig) complete() (ProviderConfig, error) {
	bad := func(format string, args ...any) (ProviderConfig, error) {
		return c, fmt.Errorf("identity provider: "+format+": %w", append(args, harness.ErrInvalid)...)
	}
	if c.Audience == "" {
		c.Audience = c.ClientID
	}
	if c.Issuer == "" || c.Audience == "" {
		return bad("it needs an issuer and an audience")
	}
	if len(c.Algorithms) == 0 {
		c.Algorithms = []string{oidc.RS256, oidc.ES256}
	}
	asymmetric := []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}
	for _, a := range c.Algorithms {
		if !slices.Contains(asymmetric, a) {
			return bad("the algorithm %q proves nothing here", a)
		}
	}
	for value, role := range c.Roles {
		if !slices.Contains(harness.CallerRoles(), role) {
			return bad("role %q for %q", role, value)
		}
	}
	if c.Default != "" && !slices.Contains(harness.CallerRoles(), c.Default) {
		return bad("role %q", c.Default)
	}
	if c.UserClaim == "" {
		c.UserClaim = "sub"
	}
	if c.RoleClaim == "" {
		c.RoleClaim = "roles"
	}
	if len(c.Scopes) == 0 {
		c.Scopes = []string{oidc.ScopeOpenID, "profile", "email"}
	}
	return c, nil
}

// checkEndpoints refuses addresses over which anybody could answer: only https,
// or the same machine.
func checkEndpoints(addresses ...string) error {
	for _, a := range addresses {
		u, err := url.Parse(a)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && loopbackHost(u.Hostname())) {
			return fmt.Errorf("identity provider: %q is no https address: %w", a, harness.ErrInvalid)
		}
	}
	return nil
}

// jwt reports whether a token has the form of one.
func jwt(token string) bool { return strings.Count(token, ".") == 2 && strings.HasPrefix(token, "ey") }

// Caller is who comes with a token of the provider.
func (p *Provider) Caller(ctx context.Context, token string) (harness.Caller, error) {
	if c, ok := p.cached(token); ok {
		return c, nil
	}
	if err := p.precheck(token); err != nil { // before a signature, and perhaps new keys, cost something
		return harness.Caller{}, err
	}
	t, err := p.verify.Verify(oidc.ClientContext(ctx, p.client), token)
	if err != nil {
		return harness.Caller{}, refusal(err)
	}
	c, err := p.caller(t)
	if err != nil {
		return harness.Caller{}, err
	}
	p.remember(token, c)
	return c, nil
}

// refusal is what a client may know: not what the key server said.
func refusal(err error) error {
	if _, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
		return unauthenticated("the token has expired")
	}
	return unauthenticated("the token is not valid")
}

// precheck looks at what a token says of itself. Nothing is believed yet, but a
// token that is not for us, or no longer good, needs no signature.
func (p *Provider) precheck(token string) error {
	head, rest, _ := strings.Cut(token, ".")
	body, _, _ := strings.Cut(rest, ".")
	var header struct {
		Algorithm string          `json:"alg"`
		KeyURL    json.RawMessage `json:"jku"`
		CertURL   json.RawMessage `json:"x5u"`
		Key       json.RawMessage `json:"jwk"`
		Critical  json.RawMessage `json:"crit"`
	}
	var claims struct {
		Issuer   string      `json:"iss"`
		Audience audience    `json:"aud"`
		Expires  json.Number `json:"exp"`
	}
	if !decodePart(head, &header) || !decodePart(body, &claims) {
		return unauthenticated("the token is malformed")
	}
	exp, err := claims.Expires.Float64()
	switch {
	case !slices.Contains(p.cfg.Algorithms, header.Algorithm):
		return unauthenticated("the token's algorithm is not accepted")
	case header.KeyURL != nil || header.CertURL != nil || header.Key != nil || header.Critical != nil:
		return unauthenticated("the token brings its own key")
	case claims.Issuer != p.cfg.Issuer:
		return unauthenticated("the token is of another issuer")
	case !slices.Contains(claims.Audience, p.cfg.Audience):
		return unauthenticated("the token is for somebody else")
	case err != nil || exp <= float64(time.Now().Unix()):
		return unauthenticated("the token has expired")
	}
	return nil
}

func decodePart(part string, to any) bool {
	b, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && len(b) <= maxClaims && json.Unmarshal(b, to) == nil
}

// audience is a word or a list of them.
type audience []string

func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}

// caller is who the verified claims say it is.
func (p *Provider) caller(t *oidc.IDToken) (harness.Caller, error) {
	claims := map[string]any{}
	if err := t.Claims(&claims); err != nil {
		return harness.Caller{}, unauthenticated("the token is malformed")
	}
	if azp, ok := claims["azp"].(string); ok && len(t.Audience) > 1 && azp != p.cfg.ClientID && azp != p.cfg.Audience {
		return harness.Caller{}, unauthenticated("the token was given to somebody else")
	}
	user, _ := claims[p.cfg.UserClaim].(string)
	if user == "" {
		return harness.Caller{}, unauthenticated("the token names no user")
	}
	c := harness.Caller{Name: p.name(claims, user), User: userID(user), Role: p.role(claims[p.cfg.RoleClaim]), Expires: t.Expiry}
	if c.Role == "" {
		return harness.Caller{}, fmt.Errorf("no role here is for %s: %w", c.Name, harness.ErrForbidden)
	}
	if err := c.Check(); err != nil {
		return harness.Caller{}, unauthenticated("the token names no user that can be one here")
	}
	return c, nil
}

func (p *Provider) name(claims map[string]any, user string) string {
	name, _ := claims[p.cfg.NameClaim].(string)
	if p.cfg.NameClaim == "" {
		if verified, _ := claims["email_verified"].(bool); verified {
			name, _ = claims["email"].(string)
		}
	}
	if name == "" {
		name = user
	}
	return printable(name, maxTokenName)
}

// hashedUser begins the identifiers of users that are hashes.
const hashedUser = "usr_"

// userID is a provider's word for a user as one of our identifiers. Words that
// are none become their hash, and so do those that look like one, so that no two
// users become one.
func userID(user string) string {
	if harness.CheckID("user", user) == nil && !strings.HasPrefix(user, hashedUser) {
		return user
	}
	return strings.Replace(string(harness.DefaultSession(user)), harness.SessionPrefix, hashedUser, 1)
}

// role is the highest that a claim gives, or the default.
func (p *Provider) role(claim any) harness.CallerRole {
	var words []string
	switch v := claim.(type) {
	case string:
		words = strings.Fields(v)
	case []any:
		for _, w := range v {
			if s, ok := w.(string); ok {
				words = append(words, s)
			}
		}
	}
	best := p.cfg.Default
	all := harness.CallerRoles()
	for _, w := range words {
		if r, ok := p.cfg.Roles[w]; ok && slices.Index(all, r) > slices.Index(all, best) {
			best = r
		}
	}
	return best
}
