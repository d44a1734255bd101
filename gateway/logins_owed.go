package gateway

import (
	"encoding/hex"
	"maps"
	"slices"
	"time"
)

// oweAgain is how long after a failure the others are told again of what has
// ended here.
const oweAgain = time.Second

// owed are the logins that have ended here, and of which the other servers have
// not been told: by their hashes. They do not come back, whatever the others say.
type owed map[[32]byte]bool

// owe notes the end of logins, also of ones that this server has not heard of.
// Of those strangers can name any number; these are not noted beyond maxLogins.
func (l *Logins) owe(ends ...[32]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range ends {
		if l.book.open[h] != nil || len(l.share.owed) < maxLogins {
			l.share.owed[h] = true
		}
	}
}

// owing is what is owed now.
func (l *Logins) owing() owed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.share.owed)
}

// paid notes that the others have been told.
func (l *Logins) paid(ends owed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range ends {
		delete(l.share.owed, h)
	}
}

// alone has f change the book of this server, because the others cannot be
// reached, and owes them the ends in it. Whoever follows tells them.
func (l *Logins) alone(f func(b *book, now time.Time)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := slices.Collect(maps.Keys(l.book.open))
	f(l.book, time.Now())
	l.share.owed.end(l.book)
	for _, h := range before {
		if l.book.open[h] == nil {
			l.share.owed[h] = true
		}
	}
	if len(l.share.owed) == 0 {
		return
	}
	select {
	case l.share.again <- struct{}{}:
	default:
	}
}

// end ends in a book what is owed.
func (o owed) end(b *book) {
	for h := range o {
		b.end(h)
	}
	b.strangeLogins = slices.DeleteFunc(b.strangeLogins, func(k keptLogin) bool {
		h, err := hex.DecodeString(k.Hash)
		return err == nil && len(h) == 32 && o[[32]byte(h)]
	})
}

// settle tells the others once more what is owed, before this server ends.
func (l *Logins) settle() {
	if len(l.owing()) > 0 {
		l.change(func(*book, time.Time) {})
	}
}
