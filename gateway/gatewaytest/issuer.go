// Package gatewaytest has an identity provider for tests: a real one on
// loopback, which signs whatever a test wants to try.
package gatewaytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// An Issuer is an identity provider: keys, discovery, authorisation with PKCE.
type Issuer struct {
	URL string

	t testing.TB

	mu      sync.Mutex // guards what follows
	keys    map[string]*rsa.PrivateKey
	ec      *ecdsa.PrivateKey
	fetches int
	codes   map[string]url.Values // what was asked with the code
	nonce   string                // replaces the one that was asked for
}

// New starts one, for the time of the test.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t, keys: map[string]*rsa.PrivateKey{}, codes: map[string]url.Values{}}
	i.ec, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	i.Rotate("k1")
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		})
	})
	mux.HandleFunc("/keys", i.serveKeys)
	mux.HandleFunc("/auth", i.serveAuth)
	mux.HandleFunc("/token", i.serveToken)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	i.URL = web.URL
	return i
}

// Rotate has it sign with another key.
func (i *Issuer) Rotate(kid string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.keys)
	i.keys[kid] = key
}

// Fetched is how many times its keys were asked for.
func (i *Issuer) Fetched() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// Misname has it answer every login with this nonce.
func (i *Issuer) Misname(nonce string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.nonce = nonce
}

func (i *Issuer) serveKeys(w http.ResponseWriter, _ *http.Request) {
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
func (i *Issuer) serveAuth(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	code := fmt.Sprintf("code-%d", time.Now().UnixNano())
	i.mu.Lock()
	i.codes[code] = q
	i.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?code="+code+"&state="+q.Get("state"), http.StatusFound)
}

// serveToken takes a code back from who knows the verifier.
func (i *Issuer) serveToken(w http.ResponseWriter, r *http.Request) {
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
	json.NewEncoder(w).Encode(map[string]any{"access_token": "opaque", "token_type": "Bearer", "id_token": i.Token(nil, Claims{"aud": "console", "nonce": nonce})})
}

// Claims are those of a token; nil leaves one out.
type Claims map[string]any

// Token is a good token, but for what is changed.
func (i *Issuer) Token(header map[string]any, change Claims) string {
	i.t.Helper()
	now := time.Now()
	head := map[string]any{"alg": "RS256", "typ": "JWT"}
	body := Claims{"iss": i.URL, "aud": "harness", "sub": "alice", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "roles": []string{"dev"}, "email": "a@b.c", "email_verified": true}
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

func (i *Issuer) sign(head map[string]any, text []byte) []byte {
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
	if head["alg"] == "RS512" { // a true one
		sum := sha512.Sum512(text)
		sig, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA512, sum[:])
		return sig
	}
	sig, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return sig
}
