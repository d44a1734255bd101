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

// offer adds a code. Of too many of one credential its oldest goes; of too many
// of all none does, and there is no new one.
func (b *book) offer(now time.Time, s string, c harness.Caller) error {
	for h, o := range b.codes {
		if !now.Before(o.until) {
			delete(b.codes, h)
		}
	}
	mine := func(o *code) bool { return o.caller.Name == c.Name && o.caller.User == c.User }
	when := func(o *code) time.Time { return o.until }
	for h, n := first(b.codes, mine, when); n >= maxCodesOf; h, n = first(b.codes, mine, when) {
		delete(b.codes, h)
	}
	if len(b.codes) >= maxCodes {
		return harness.ErrTooMany.Saying("too many links to log in with wait; try again in a minute")
	}
	if c.Login != "" { // the new one does not end with it
		c.Login, c.Life = "", c.Life.Of()
	}
	b.codes[sha256.Sum256([]byte(s))] = &code{caller: c, until: now.Add(codeFor)}
	return nil
}

// first is the first by time of those in a table that count, and how many do.
func first[T any](table map[[32]byte]*T, counts func(*T) bool, when func(*T) time.Time) (key [32]byte, n int) {
	var found *T
	for h, v := range table {
		if !counts(v) {
			continue
		}
		if n++; found == nil || when(v).Before(when(found)) {
			key, found = h, v
		}
	}
	return key, n
}

// exchange gives a login for a code, once.
func (b *book) exchange(now time.Time, s string) (secret string, c harness.Caller, err error) {
	spent := unauthenticated("the link was used already, or is older than a minute")
	k := b.codes[sha256.Sum256([]byte(s))]
	switch {
	case k == nil || !now.Before(k.until) || k.caller.Life.Over():
		return "", harness.Caller{}, spent
	case !k.used.IsZero():
		if now.Sub(k.used) < replayGrace {
			b.end(k.login)
		}
		return "", harness.Caller{}, spent
	}
	if secret, err = b.begin(now, k.caller); err != nil {
		return "", harness.Caller{}, err
	}
	k.used, k.login = now, sha256.Sum256([]byte(secret))
	b.open[k.login].with = k.with
	return secret, k.caller, nil
}

// begin adds a login. Of too many of one credential the one that was away longest
// ends; of too many of all none does, and there is no new one.
func (b *book) begin(now time.Time, c harness.Caller) (secret string, err error) {
	for h, o := range b.open {
		if !o.valid(now) {
			b.end(h)
		}
	}
	mine := func(o *login) bool { return o.caller.Name == c.Name && o.caller.User == c.User }
	when := func(o *login) time.Time { return o.last }
	for h, n := first(b.open, mine, when); n >= maxLoginsOf; h, n = first(b.open, mine, when) {
		b.end(h)
	}
	if len(b.open) >= maxLogins {
		return "", harness.ErrTooMany.Saying("too many browsers are logged in; try again later")
	}
	until := now.Add(loginFor)
	if !c.Expires.IsZero() && c.Expires.Before(until) {
		until = c.Expires
	}
	c.Login, c.Expires, c.Life = random(8), until, harness.NewLife(c.Life)
	secret = random(32)
	b.open[sha256.Sum256([]byte(secret))] = &login{caller: c, until: until, last: now}
	return secret, nil
}

func (o *login) valid(now time.Time) bool {
	return now.Before(o.until) && now.Sub(o.last) < loginIdle && !o.caller.Life.Over()
}

// end ends a login, if there is one.
func (b *book) end(key [32]byte) {
	if o := b.open[key]; o != nil {
		delete(b.open, key)
		o.caller.Life.End()
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
