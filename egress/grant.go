package egress

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"harness"
)

// TokenPrefix begins every run token, so that redaction and people know one.
const TokenPrefix = "hk_run_"

// Grant is what a run token is good for.
type Grant struct {
	Session  harness.SessionID
	Turn     harness.TurnID
	Provider string   // by its name; empty: none
	Others   []string // more of them
	Models   []string // those that may be asked; a last * is any ending; none: all
	Forward  bool     // tunnels to the domains of Options.Forward
	Expires  time.Time
	// MaxTokens bounds everything that is read and written, cached or not, and
	// MaxRequests the requests that are sent on. Zero is no bound.
	MaxTokens   int64
	MaxRequests int64
}

// serves reports whether a provider may be asked.
func (g Grant) serves(provider string) bool {
	return g.Provider == provider || slices.Contains(g.Others, provider)
}

// allows reports whether a model may be asked.
func (g Grant) allows(model string) bool {
	return len(g.Models) == 0 || slices.ContainsFunc(g.Models, func(m string) bool {
		prefix, open := strings.CutSuffix(m, "*")
		return m == model || open && strings.HasPrefix(model, prefix)
	})
}

// Ends of a grant, as causes of the end of its requests.
var (
	errRevoked = errors.New("the run token was revoked")
	errExpired = errors.New("the run token has expired")
)

// holder is a grant that is in force. The token itself is nowhere.
type holder struct {
	Grant
	hash   [sha256.Size]byte
	ctx    context.Context // of everything that is done for the grant
	budget *budget
}

// grants are the grants in force, by the hashes of their tokens.
type grants struct {
	mu     sync.Mutex // guards byHash
	byHash map[[sha256.Size]byte]*holder
}

// Grant makes a token. It ends when it expires or is revoked, and requests that
// run then end with it. The proxy cannot say it again.
func (p *Proxy) Grant(g Grant) (token string, revoke func(), err error) {
	for _, name := range append([]string{g.Provider}, g.Others...) {
		if _, known := p.upstreams[name]; !known && name != "" {
			return "", nil, fmt.Errorf("egress: grant for the provider %q: %w", name, harness.ErrInvalid)
		}
	}
	if g.Provider == "" && !g.Forward || g.Forward && p.forward == nil || g.MaxTokens < 0 || g.MaxRequests < 0 {
		return "", nil, fmt.Errorf("egress: grant of nothing: %w", harness.ErrInvalid)
	}
	secret := make([]byte, 32)
	rand.Read(secret) // it never fails
	token = TokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	g.Models, g.Others = slices.Clone(g.Models), slices.Clone(g.Others)
	h := &holder{Grant: g, hash: sha256.Sum256([]byte(token)), budget: newBudget(g.MaxTokens, g.MaxRequests)}
	ctx, cancel := context.WithCancelCause(p.ctx)
	stop := func() {}
	if h.ctx = ctx; !g.Expires.IsZero() {
		h.ctx, stop = context.WithDeadlineCause(ctx, g.Expires, errExpired)
	}
	p.grants.add(h)
	context.AfterFunc(h.ctx, func() { // however it ends
		p.grants.remove(h)
		cancel(nil)
		stop()
	})
	return token, func() {
		p.grants.remove(h)
		cancel(errRevoked)
	}, nil
}

func (g *grants) add(h *holder) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byHash[h.hash] = h
}

func (g *grants) remove(h *holder) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.byHash, h.hash)
}

// find returns the grant of a token that is in force now.
func (g *grants) find(token string) *holder {
	hash := sha256.Sum256([]byte(token))
	g.mu.Lock()
	h := g.byHash[hash]
	g.mu.Unlock()
	if h == nil || subtle.ConstantTimeCompare(h.hash[:], hash[:]) != 1 || h.ctx.Err() != nil {
		return nil
	}
	return h
}
