package gateway

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"harness"
)

// Bounds of logins.
const (
	codeFor     = time.Minute // long enough to click on a link, too short to find it in a history
	maxCodes    = 1024        // that were printed and not used; then no new ones
	maxCodesOf  = 16          // of one credential: a person clicks on one; its oldest goes
	loginIdle   = 12 * time.Hour
	loginFor    = 7 * 24 * time.Hour
	maxLogins   = 4096        // browsers: what servers share of them is below paper.Max; then no new ones
	maxLoginsOf = 64          // of one credential: a person's, on all machines; the one that was away longest is logged out
	replayGrace = time.Second // a code that is used twice within this time was stolen; the login page waits longer
)

// Logins are the console's: codes that are good once, and the sessions of
// browsers that were had for one. Nothing of either is kept but its hash. Without
// [Logins.Keep] they end with the server, with [Logins.Share] they are those of
// several.
type Logins struct {
	names  *Names
	onEnd  func(login string)
	keep   *keeper     // nil: they end with the server
	share  *loginShare // nil: they are this server's alone
	saving sync.Mutex  // held while they are written

	mu    sync.Mutex // guards what follows
	book  *book
	ended []string // of which onEnd has not been told
}

// NewLogins has no logins, on the server that has these names. onEnd, which may
// be nil, is told of each login that ends before its time, by [harness.Caller]'s
// name for it, so that what was opened with it can be closed.
func NewLogins(names *Names, onEnd func(login string)) *Logins {
	if onEnd == nil {
		onEnd = func(string) {}
	}
	return &Logins{names: names, onEnd: onEnd, book: newBook()}
}

// change has f change the book, and tells of what has ended by it. If the others
// cannot be told, it is changed on this server alone.
func (l *Logins) change(f func(b *book, now time.Time)) {
	l.changeOr(f, l.alone)
}

// changeForAll is change on all servers, or on none: then it is ErrUnavailable.
func (l *Logins) changeForAll(f func(b *book, now time.Time)) error {
	return l.changeOr(f, func(func(*book, time.Time)) {})
}

// changeOr is change; if the others cannot be told, otherwise has f.
func (l *Logins) changeOr(f func(b *book, now time.Time), otherwise func(f func(b *book, now time.Time))) (err error) {
	if l.share != nil {
		err = l.changeShared(f, otherwise)
	} else {
		l.mu.Lock()
		f(l.book, time.Now())
		l.changed()
		l.mu.Unlock()
	}
	l.tell()
	return err
}

// Code is a new code for a caller. It belongs behind the # of a URL, where no
// server and no log sees it. If there are too many of others, there is none:
// ErrTooMany; nor if the other servers cannot be told of it: ErrUnavailable.
func (l *Logins) Code(c harness.Caller) (code string, err error) {
	code = random(32)
	lost := l.changeForAll(func(b *book, now time.Time) { err = b.offer(now, code, c) })
	if err = cmp.Or(lost, err); err != nil {
		return "", err
	}
	return code, nil
}

// tell tells of the logins that have ended, and has the rest kept.
func (l *Logins) tell() {
	l.save()
	l.mu.Lock()
	ended := append(l.ended, l.book.ended...)
	l.ended, l.book.ended = nil, nil
	l.mu.Unlock()
	for _, login := range ended {
		l.onEnd(login)
	}
}

// Exchange gives a login for a code: once, in time. A code that comes a second
// time at once was seen by somebody else, and nobody knows who was first: then
// the login of the first ends as well. One that is good for nothing any more is
// ErrUnauthenticated. While the other servers cannot be told, it is ErrUnavailable
// and good later: else it would be good once on each of them.
func (l *Logins) Exchange(s string) (secret string, c harness.Caller, err error) {
	lost := l.changeForAll(func(b *book, now time.Time) { secret, c, err = b.exchange(now, s) })
	if err = cmp.Or(lost, err); err != nil {
		return "", harness.Caller{}, err
	}
	return secret, c, nil
}

// Begin is a login without a code, for a caller that an identity provider
// vouches for. If there are too many of others, there is none: ErrTooMany.
func (l *Logins) Begin(c harness.Caller) (secret string, err error) {
	l.change(func(b *book, now time.Time) { secret, err = b.begin(now, c) })
	return secret, err
}

// caller is whose browser sends a request.
func (l *Logins) caller(r *http.Request) (harness.Caller, bool) {
	cookies := r.CookiesNamed(l.CookieName())
	if len(cookies) != 1 { // two could be ours and somebody else's
		return harness.Caller{}, false
	}
	h := sha256.Sum256([]byte(cookies[0].Value))
	c, known := l.use(h)
	if !known && l.share.lookSoon() {
		l.look(r.Context())
		c, known = l.use(h)
	}
	return c, known
}

// use is whose a login is, which is used now.
func (l *Logins) use(h [32]byte) (c harness.Caller, ok bool) {
	now := time.Now()
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.book.open[h]
	if o == nil {
		return harness.Caller{}, false
	}
	if !o.valid(now) {
		l.book.end(h)
		l.changed()
		return harness.Caller{}, false
	}
	o.last = now
	l.used(now)
	return o.caller, true
}

// End logs the browser of a request out, and ends what it has open: here at once,
// and on other servers as soon as they can be told.
func (l *Logins) End(r *http.Request) {
	var ends [][32]byte
	for _, c := range r.CookiesNamed(l.CookieName()) {
		ends = append(ends, sha256.Sum256([]byte(c.Value)))
	}
	if l.share != nil {
		l.owe(ends...)
	}
	l.change(func(b *book, _ time.Time) {
		for _, h := range ends {
			b.end(h)
		}
	})
}

// EndOf logs out every browser that came with a credential of this name.
func (l *Logins) EndOf(name string) {
	l.change(func(b *book, _ time.Time) { b.endOf(name) })
}

// Len is how many browsers are logged in.
func (l *Logins) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.book.open)
}

// CookieName has the port in it: browsers send cookies to every port of a host,
// and two servers must not overwrite each other's. Those that share logins have
// one name. With TLS it has the prefix that keeps other hosts of the domain from
// setting it.
func (l *Logins) CookieName() string {
	whose := l.names.port
	if l.share != nil {
		whose = l.share.id
	}
	if l.names.secure {
		return "__Host-harness_" + whose
	}
	return "harness_" + whose
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
