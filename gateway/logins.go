package gateway

import (
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"harness"
)

// Bounds of logins.
const (
	codeFor     = time.Minute // long enough to click on a link, too short to find it in a history
	maxCodes    = 64          // that were printed and not used
	loginIdle   = 12 * time.Hour
	loginFor    = 7 * 24 * time.Hour
	maxLogins   = 1024        // browsers; the one that was away longest is logged out
	replayGrace = time.Second // a code that is used twice within this time was stolen
)

// Logins are the console's: codes that are good once, and the sessions of
// browsers that were had for one. Nothing of either is kept but its hash. Without
// [Logins.Keep] they end with the server.
type Logins struct {
	names  *Names
	onEnd  func(login string)
	keep   *keeper    // nil: they end with the server
	saving sync.Mutex // held while they are written

	mu    sync.Mutex // guards what follows
	codes map[[32]byte]*code
	open  map[[32]byte]*login
	ended []string // of which onEnd has not been told
}

type code struct {
	caller harness.Caller
	until  time.Time
	used   time.Time // zero: not yet
	login  [32]byte  // what it was exchanged for
}

type login struct {
	caller harness.Caller
	until  time.Time // whatever happens
	last   time.Time // when it was used
}

// NewLogins has no logins, on the server that has these names. onEnd, which may
// be nil, is told of each login that ends before its time, by [harness.Caller]'s
// name for it, so that what was opened with it can be closed.
func NewLogins(names *Names, onEnd func(login string)) *Logins {
	if onEnd == nil {
		onEnd = func(string) {}
	}
	return &Logins{names: names, onEnd: onEnd, codes: map[[32]byte]*code{}, open: map[[32]byte]*login{}}
}

// Code is a new code for a caller. It belongs behind the # of a URL, where no
// server and no log sees it.
func (l *Logins) Code(c harness.Caller) string {
	s := random(32)
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for h, o := range l.codes {
		if !now.Before(o.until) {
			delete(l.codes, h)
		}
	}
	for len(l.codes) >= maxCodes {
		delete(l.codes, first(l.codes, func(o *code) time.Time { return o.until }))
	}
	l.codes[sha256.Sum256([]byte(s))] = &code{caller: c, until: now.Add(codeFor)}
	return s
}

// first is the first by time of a table.
func first[T any](table map[[32]byte]*T, when func(*T) time.Time) (key [32]byte) {
	var found *T
	for h, v := range table {
		if found == nil || when(v).Before(when(found)) {
			key, found = h, v
		}
	}
	return key
}

// end ends a login, if there is one.
func (l *Logins) end(key [32]byte) {
	if o := l.open[key]; o != nil {
		delete(l.open, key)
		l.ended = append(l.ended, o.caller.Login)
		l.changed()
	}
}

// tell tells of the logins that have ended, and has the rest kept.
func (l *Logins) tell() {
	l.save()
	l.mu.Lock()
	ended := l.ended
	l.ended = nil
	l.mu.Unlock()
	for _, login := range ended {
		l.onEnd(login)
	}
}

// Exchange gives a login for a code: once, in time. A code that comes a second
// time at once was seen by somebody else, and nobody knows who was first: then
// the login of the first ends as well.
func (l *Logins) Exchange(s string) (secret string, c harness.Caller, ok bool) {
	now := time.Now()
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.codes[sha256.Sum256([]byte(s))]
	switch {
	case k == nil || !now.Before(k.until):
		return "", harness.Caller{}, false
	case !k.used.IsZero():
		if now.Sub(k.used) < replayGrace {
			l.end(k.login)
		}
		return "", harness.Caller{}, false
	}
	secret = l.begin(now, k.caller)
	k.used, k.login = now, sha256.Sum256([]byte(secret))
	return secret, k.caller, true
}

// Begin is a login without a code, for a caller that an identity provider
// vouches for.
func (l *Logins) Begin(c harness.Caller) (secret string) {
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begin(time.Now(), c)
}

func (l *Logins) begin(now time.Time, c harness.Caller) string {
	for h, o := range l.open {
		if !o.valid(now) {
			l.end(h)
		}
	}
	for len(l.open) >= maxLogins {
		l.end(first(l.open, func(o *login) time.Time { return o.last }))
	}
	until := now.Add(loginFor)
	if !c.Expires.IsZero() && c.Expires.Before(until) {
		until = c.Expires
	}
	c.Login, c.Expires = random(8), until
	s := random(32)
	l.open[sha256.Sum256([]byte(s))] = &login{caller: c, until: until, last: now}
	l.changed()
	return s
}

func (o *login) valid(now time.Time) bool { return now.Before(o.until) && now.Sub(o.last) < loginIdle }

// caller is whose browser sends a request.
func (l *Logins) caller(r *http.Request) (harness.Caller, bool) {
	cookies := r.CookiesNamed(l.CookieName())
	if len(cookies) != 1 { // two could be ours and somebody else's
		return harness.Caller{}, false
	}
	now := time.Now()
	h := sha256.Sum256([]byte(cookies[0].Value))
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.open[h]
	if o == nil {
		return harness.Caller{}, false
	}
	if !o.valid(now) {
		l.end(h)
		return harness.Caller{}, false
	}
	o.last = now
	l.used(now)
	return o.caller, true
}

// End logs the browser of a request out, and ends what it has open.
func (l *Logins) End(r *http.Request) {
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range r.CookiesNamed(l.CookieName()) {
		l.end(sha256.Sum256([]byte(c.Value)))
	}
}

// EndOf logs out every browser that came with a credential of this name.
func (l *Logins) EndOf(name string) {
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	for h, o := range l.open {
		if o.caller.Name == name {
			l.end(h)
		}
	}
	for h, k := range l.codes {
		if k.caller.Name == name {
			delete(l.codes, h)
		}
	}
}

// Len is how many browsers are logged in.
func (l *Logins) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// CookieName has the port in it: browsers send cookies to every port of a host,
// and two servers must not overwrite each other's. With TLS it has the prefix
// that keeps other hosts of the domain from setting it.
func (l *Logins) CookieName() string {
	if l.names.secure {
		return "__Host-harness_" + l.names.port
	}
	return "harness_" + l.names.port
}

// cookie is the cookie for a login; an empty one ends it.
func (l *Logins) cookie(secret string) *http.Cookie {
	c := &http.Cookie{
		Name: l.CookieName(), Value: secret, Path: "/", MaxAge: int(loginFor / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: l.names.secure,
	}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}
