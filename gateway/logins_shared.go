package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"harness"
	"harness/internal/paper"
)

// sharedLogins is what servers share of logins. Of secrets it has hashes; of a
// caller it has the name of the credential, which says what it may do, or if an
// identity provider vouched for it, what that said.
type sharedLogins struct {
	ID     string      `json:"id"` // in the name of the cookie
	Logins []keptLogin `json:"logins"`
	Codes  []keptCode  `json:"codes,omitempty"`
}

// keptCode is a code in a file.
type keptCode struct {
	Hash    string          `json:"hash"`
	Name    string          `json:"name"`
	Of      string          `json:"of,omitempty"`
	Vouched *harness.Caller `json:"vouched,omitempty"`
	Until   time.Time       `json:"until"`
	Expires time.Time       `json:"expires,omitzero"` // when its caller does, and so the login
	Used    time.Time       `json:"used,omitzero"`
	Login   string          `json:"login,omitempty"` // the hash of what it was exchanged for
}

// loginShare is where servers share logins.
type loginShare struct {
	paper   *paper.Paper
	bells   harness.Bells
	id      string
	current credentials
	failed  func(error)
	version uint64        // that the book is of; guarded by the mutex of saving
	asked   atomic.Int64  // when an unknown cookie had it looked at, in Unix nanoseconds
	noted   atomic.Int64  // when uses were written, as well
	due     chan struct{} // uses are to be written; size 1
	owed    owed          // guarded by the mutex of the logins
	again   chan struct{} // something is owed, and could not be told; size 1
}

// Share makes logins those of all servers that share something: a browser that
// is logged in to one is to all of them, until it is logged out of any. current
// says what a credential may do now. failed hears of what could not be read or
// written; no code is made or taken then, a login at a provider is this server's
// alone, and the end of one is told the others later. Call it before the first
// request, and [Logins.Follow].
func (l *Logins) Share(ctx context.Context, s Shared, current credentials, failed func(error)) error {
	share := &loginShare{paper: paper.In(s, loginsPlace), bells: s, current: current, failed: failed, due: make(chan struct{}, 1), owed: owed{}, again: make(chan struct{}, 1)}
	share.noted.Store(time.Now().UnixNano())
	_, err := share.paper.Change(ctx, func(text []byte) ([]byte, error) {
		all := readLogins(text)
		if share.id = all.ID; share.id != "" {
			return nil, nil
		}
		all.ID = hex.EncodeToString([]byte(random(6)))
		share.id = all.ID
		return json.Marshal(all)
	})
	if err != nil {
		return fmt.Errorf("logins: %w", err)
	}
	l.share = share
	l.look(ctx)
	return nil
}

// readLogins reads what servers share; what cannot be read was written by
// another version, and people log in again.
func readLogins(text []byte) (all sharedLogins) {
	if json.Unmarshal(text, &all) != nil {
		return sharedLogins{}
	}
	return all
}

// Follow hears what other servers do to logins, until ctx ends.
func (l *Logins) Follow(ctx context.Context) {
	if l.share == nil {
		return
	}
	bell, away := l.share.bells.Hang(l.share.paper.Topic())
	defer away()
	again := lookAgain(l.look(ctx)) // something may have come before it was hung
	defer l.settle()
	var later <-chan time.Time
	for {
		select {
		case <-bell:
			again = lookAgain(l.look(ctx))
		case <-again:
			again = lookAgain(l.look(ctx))
		case <-l.share.again:
			later = time.After(oweAgain)
		case <-later:
			later = nil
			l.settle()
		case <-l.share.due:
			l.change(func(*book, time.Time) {})
		case <-ctx.Done():
			return
		}
	}
}

// look reads what others have changed. What fails before ctx ends is told.
func (l *Logins) look(ctx context.Context) (ok bool) {
	l.saving.Lock()
	reading, cancel := context.WithTimeout(ctx, sharedFor)
	text, version, err := l.share.paper.Read(reading, l.known())
	cancel()
	if err == nil && text != nil {
		next := l.share.decode(readLogins(text), time.Now())
		l.owing().end(next)
		l.adopt(next, version)
	}
	l.saving.Unlock()
	if err != nil && ctx.Err() == nil {
		l.share.failed(fmt.Errorf("logins: %w", err))
	}
	l.tell()
	return err == nil
}

// known is the version that need not be read again: none while some logins are
// of credentials that this server had not heard of when it read them.
func (l *Logins) known() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.book.strangeLogins)+len(l.book.strangeCodes) > 0 {
		return 0
	}
	return l.share.version
}

// changeShared has f change the book as all servers have it. If that fails,
// otherwise has f.
func (l *Logins) changeShared(f func(b *book, now time.Time), otherwise func(f func(b *book, now time.Time))) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), sharedFor)
	defer cancel()
	var next *book
	ends := l.owing()
	version, err := l.share.paper.Change(ctx, func(text []byte) ([]byte, error) {
		now := time.Now()
		all := readLogins(text)
		next = l.share.decode(all, now)
		l.note(next)
		f(next, now)
		ends.end(next)
		return json.Marshal(l.share.encode(all.ID, next))
	})
	if err != nil {
		l.share.failed(fmt.Errorf("logins: %w", err))
		otherwise(f)
		return harness.ErrUnavailable.Saying("what the servers share cannot be reached; try again")
	}
	l.adopt(next, version)
	l.paid(ends)
	return nil
}

// note brings the uses along that only this server knows of.
func (l *Logins) note(next *book) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.share.noted.Store(time.Now().UnixNano())
	for h, o := range l.book.open {
		if n := next.open[h]; n != nil && n.last.Before(o.last) {
			n.last = o.last
		}
	}
}

// adopt makes next the book; what it lacks has ended.
func (l *Logins) adopt(next *book, version uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for h, o := range l.book.open {
		n := next.open[h]
		if n != nil && n.last.Before(o.last) {
			n.last = o.last
		}
		if n != nil && n.caller.Life.Of() == o.caller.Life.Of() {
			n.caller.Life = o.caller.Life
			continue
		}
		o.caller.Life.End()
		l.ended = append(l.ended, o.caller.Login)
	}
	l.ended = append(l.ended, l.book.ended...)
	next.ended = nil // they were in the book, or nobody had them open
	l.book, l.share.version = next, version
}

// lookSoon reports whether it is time to look for what others have done: not
// more often than it helps, because strangers can have it done.
func (s *loginShare) lookSoon() bool {
	if s == nil {
		return false
	}
	now, last := time.Now().UnixNano(), s.asked.Load()
	return now-last >= int64(lookAfter) && s.asked.CompareAndSwap(last, now)
}

// used has uses written now and then.
func (s *loginShare) used(now time.Time) {
	if now.UnixNano()-s.noted.Load() < int64(writeUseEvery) {
		return
	}
	select {
	case s.due <- struct{}{}:
	default:
	}
}

// decode is the book of what is shared, as of now.
func (s *loginShare) decode(all sharedLogins, now time.Time) *book {
	b := newBook()
	for _, k := range all.Logins {
		hash, err := parseHash(k.Hash)
		if o := (&login{until: k.Until, last: k.Last}); err != nil || !o.valid(now) {
			continue
		}
		c, ok := s.caller(k.Name, k.Of, k.Vouched)
		if !ok {
			b.strangeLogins = append(b.strangeLogins, k)
			continue
		}
		if !c.Expires.IsZero() && c.Expires.Before(k.Until) {
			k.Until = c.Expires
		}
		c.Login, c.Expires, c.Life = k.Login, k.Until, harness.NewLife(c.Life)
		b.open[hash] = &login{caller: c, with: logCredential{k.Of, k.Vouched != nil}, until: k.Until, last: k.Last}
	}
	for _, k := range all.Codes {
		hash, err := parseHash(k.Hash)
		if err != nil || !now.Before(k.Until) {
			continue
		}
		c, ok := s.caller(k.Name, k.Of, k.Vouched)
		if !ok {
			b.strangeCodes = append(b.strangeCodes, k)
			continue
		}
		if c.Expires.IsZero() || !k.Expires.IsZero() && k.Expires.Before(c.Expires) {
			c.Expires = k.Expires
		}
		o := &code{caller: c, with: logCredential{k.Of, k.Vouched != nil}, until: k.Until, used: k.Used}
		o.login, _ = parseHash(k.Login) // zero: none
		b.codes[hash] = o
	}
	return b
}

func parseHash(s string) (hash [sha256.Size]byte, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(hash) {
		return hash, fmt.Errorf("no hash: %w", harness.ErrCorrupt)
	}
	return [sha256.Size]byte(b), nil
}

// caller is who a credential is now, if it still stands.
func (s *loginShare) caller(name, of string, vouched *harness.Caller) (harness.Caller, bool) {
	if vouched != nil {
		return *vouched, vouched.Check() == nil
	}
	c, is, ok := s.current(name, of)
	return c, ok && is == of
}

// encode is the book for the others.
func (s *loginShare) encode(id string, b *book) sharedLogins {
	all := sharedLogins{ID: cmp.Or(id, s.id), Logins: slices.Clone(b.strangeLogins), Codes: slices.Clone(b.strangeCodes)}
	for h, o := range b.open {
		k := keptLogin{Hash: hex.EncodeToString(h[:]), Login: o.caller.Login, Name: o.caller.Name, Until: o.until, Last: o.last}
		k.Of, k.Vouched = s.credential(&o.with, o.caller)
		all.Logins = append(all.Logins, k)
	}
	for h, o := range b.codes {
		k := keptCode{Hash: hex.EncodeToString(h[:]), Name: o.caller.Name, Until: o.until, Expires: o.caller.Expires, Used: o.used}
		if !o.used.IsZero() {
			k.Login = hex.EncodeToString(o.login[:])
		}
		k.Of, k.Vouched = s.credential(&o.with, o.caller)
		all.Codes = append(all.Codes, k)
	}
	slices.SortFunc(all.Logins, func(a, b keptLogin) int { return strings.Compare(a.Hash, b.Hash) })
	slices.SortFunc(all.Codes, func(a, b keptCode) int { return strings.Compare(a.Hash, b.Hash) })
	return all
}

// credential is which one a caller came with, or what was vouched for.
func (s *loginShare) credential(with *logCredential, c harness.Caller) (of string, vouched *harness.Caller) {
	if *with == (logCredential{}) { // a new one
		now, is, ok := s.current(c.Name, "")
		if *with = (logCredential{vouched: true}); ok && same(now, c) {
			*with = logCredential{of: is}
		}
	}
	if !with.vouched {
		return with.of, nil
	}
	c.Login, c.Expires = "", time.Time{}
	return "", &c
}
