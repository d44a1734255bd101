package gatewaytest

import (
	"strings"
	"time"
)

// Forged is a token that nobody may come in with.
type Forged struct {
	Name, Token string
	Known       bool // it is good, and says nothing that makes a role of it
}

// Forged are those of attack 18: of another algorithm, another key, another
// party, another time, and of a provider's user who has no business here.
func (i *Issuer) Forged() []Forged {
	good := i.Token(nil, Claims{"jti": "other"})
	parts := strings.Split(good, ".")
	other := strings.Split(i.Token(nil, Claims{"sub": "root"}), ".")
	header := func(key string, value any) string { return i.Token(map[string]any{key: value}, nil) }
	claim := func(key string, value any) string { return i.Token(nil, Claims{key: value}) }
	return []Forged{
		{Name: "alg none", Token: header("alg", "none")},
		{Name: "alg None", Token: header("alg", "None")},
		{Name: "HS256 with public key", Token: header("alg", "HS256")},
		{Name: "RS512 not listed", Token: header("alg", "RS512")},
		{Name: "wrong audience", Token: claim("aud", "other")},
		{Name: "no audience", Token: claim("aud", nil)},
		{Name: "audience prefix", Token: claim("aud", "harness2")},
		{Name: "wrong issuer", Token: claim("iss", "https://evil.example")},
		{Name: "issuer with a slash", Token: claim("iss", i.URL+"/")},
		{Name: "expired", Token: claim("exp", time.Now().Add(-time.Second).Unix())},
		{Name: "no expiry", Token: claim("exp", nil)},
		{Name: "expiry of another type", Token: claim("exp", "never")},
		{Name: "jku", Token: header("jku", "https://evil.example/keys")},
		{Name: "jwk", Token: header("jwk", map[string]string{"kty": "RSA"})},
		{Name: "crit", Token: header("crit", []string{"x"})},
		{Name: "another's body", Token: parts[0] + "." + other[1] + "." + parts[2]},
		{Name: "no signature", Token: parts[0] + "." + parts[1] + "."},
		{Name: "cut", Token: good[:len(good)-10]},
		{Name: "1 MB", Token: "ey" + strings.Repeat("A", 1<<20) + ".e.e"},
		{Name: "dots", Token: "ey.."},
		{Name: "not yet valid", Token: claim("nbf", time.Now().Add(10*time.Minute).Unix())},
		{Name: "for another", Token: i.Token(nil, Claims{"aud": []string{"x", "harness"}, "azp": "x"})},
		{Name: "no user", Token: claim("sub", nil)},
		{Name: "user of a type", Token: claim("sub", 7)},
		{Name: "no role", Token: claim("roles", nil), Known: true},
		{Name: "unknown role", Token: claim("roles", []string{"x"}), Known: true},
		{Name: "role of a type", Token: claim("roles", map[string]string{"dev": "dev"}), Known: true},
	}
}
