package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"harness"
)

// patientKeys are the provider's keys. They are fetched on behalf of whoever
// needs them first and for everybody, so nobody's going away ends that.
type patientKeys struct{ set oidc.KeySet }

func (k *patientKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), providerFor)
	defer cancel()
	return k.set.VerifySignature(ctx, token)
}

// patient lets a request through once in a while, so that tokens with unknown
// keys do not make us ask the provider for each of them.
type patient struct {
	next  http.RoundTripper
	every time.Duration

	mu   sync.Mutex // guards last
	last time.Time
}

var errPatience = errors.New("the keys were fetched a moment ago")

func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	now := time.Now()
	soon := !p.last.IsZero() && now.Sub(p.last) < p.every
	if !soon {
		p.last = now
	}
	p.mu.Unlock()
	if soon {
		return nil, errPatience
	}
	next := p.next
	if next == nil {
		next = http.DefaultTransport
	}
	return next.RoundTrip(r)
}

// cached is the caller of a token whose signature was verified before and that
// has not expired since.
func (p *Provider) cached(token string) (harness.Caller, bool) {
	h := sha256.Sum256([]byte(token))
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.verified[h]
	if c == nil {
		return harness.Caller{}, false
	}
	if !time.Now().Before(c.Expires) {
		delete(p.verified, h)
		return harness.Caller{}, false
	}
	return *c, true
}

// seen reports whether a token costs no more than a hash.
func (p *Provider) seen(token string) bool {
	_, ok := p.cached(token)
	return ok
}

func (p *Provider) remember(token string, c harness.Caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.verified) >= maxVerified {
		for h := range p.verified { // any: it only costs a signature more
			delete(p.verified, h)
			break
		}
	}
	p.verified[sha256.Sum256([]byte(token))] = &c
}
