package gateway

import (
	"crypto/sha256"
	"time"

	"harness"
)

// book is codes and logins, by the hashes of their secrets.
type book struct {
	codes map[[32]byte]*code
	open  map[[32]byte]*login
	ended []string // of which nobody has been told

	// What servers share and this one cannot use: credentials that it does not
	// know, or not yet.
	strangeCodes  []keptCode
	strangeLogins []keptLogin
}

// logCredential is what somebody logged in with; zero: nobody has looked yet.
type logCredential struct {
	of      string // which one of its name
	vouched bool   // none of ours: an identity provider vouched for the caller
}

type code struct {
	caller harness.Caller
	with   logCredential
	until  time.Time
	used   time.Time // zero: not yet
	login  [32]byte  // what it was exchanged for
}

type login struct {
	caller harness.Caller
	with   logCredential
	until  time.Time // whatever happens
	last   time.Time // when it was used
}

func newBook() *book { return &book{codes: map[[32]byte]*code{}, open: map[[32]byte]*login{}} }

// offer adds a code.
func (b *book) offer(now time.Time, s string, c harness.Caller) {
	for h, o := range b.codes {
		if !now.Before(o.until) {
			delete(b.codes, h)
		}
	}
	for len(b.codes) >= maxCodes {
		delete(b.codes, first(b.codes, func(o *code) time.Time { return o.until }))
	}
	b.codes[sha256.Sum256([]byte(s))] = &code{caller: c, until: now.Add(codeFor)}
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

// exchange gives a login for a code, once.
func (b *book) exchange(now time.Time, s string) (secret string, c harness.Caller, ok bool) {
	k := b.codes[sha256.Sum256([]byte(s))]
	switch {
	case k == nil || !now.Before(k.until):
		return "", harness.Caller{}, false
	case !k.used.IsZero():
		if now.Sub(k.used) < replayGrace {
			b.end(k.login)
		}
		return "", harness.Caller{}, false
	}
	secret = b.begin(now, k.caller)
	k.used, k.login = now, sha256.Sum256([]byte(secret))
	b.open[k.login].with = k.with
	return secret, k.caller, true
}

// begin adds a login.
func (b *book) begin(now time.Time, c harness.Caller) string {
	for h, o := range b.open {
		if !o.valid(now) {
			b.end(h)
		}
	}
	for len(b.open) >= maxLogins {
		b.end(first(b.open, func(o *login) time.Time { return o.last }))
	}
	until := now.Add(loginFor)
	if !c.Expires.IsZero() && c.Expires.Before(until) {
		until = c.Expires
	}
	c.Login, c.Expires = random(8), until
	s := random(32)
	b.open[sha256.Sum256([]byte(s))] = &login{caller: c, until: until, last: now}
	return s
}

func (o *login) valid(now time.Time) bool { return now.Before(o.until) && now.Sub(o.last) < loginIdle }

// end ends a login, if there is one.
func (b *book) end(key [32]byte) {
	if o := b.open[key]; o != nil {
		delete(b.open, key)
		b.ended = append(b.ended, o.caller.Login)
	}
}

// endOf ends all that came with a credential of a name.
func (b *book) endOf(name string) {
	for h, o := range b.open {
		if o.caller.Name == name {
			b.end(h)
		}
	}
	for h, k := range b.codes {
		if k.caller.Name == name {
			delete(b.codes, h)
		}
	}
}
