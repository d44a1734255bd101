package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"harness"
	"harness/gateway/secret"
)

// writeUseEvery is how long the use of a login may be unknown to the file.
const writeUseEvery = 10 * time.Minute

// keptLogin is a login in a file. The secret is not in it, only its hash; nor is
// what the caller may do, which is its credential's to say.
type keptLogin struct {
	Hash    string          `json:"hash"`
	Login   string          `json:"login"`
	Name    string          `json:"name"`
	Of      string          `json:"of"`                // which credential of that name
	Vouched *harness.Caller `json:"vouched,omitempty"` // instead: only where servers share it
	Until   time.Time       `json:"until"`
	Last    time.Time       `json:"last"`
}

// credentials says what a credential may do now, and which one of its name it is.
// If there are several, it is the one that of names, else whichever is this
// server's.
type credentials = func(name, of string) (c harness.Caller, is string, ok bool)

// keeper is where logins are kept, and who says which credentials stand.
type keeper struct {
	path    string
	current credentials
	failed  func(error)
	saved   time.Time // guarded by the mutex of the logins
	dirty   bool      // as well
}

// Keep has logins outlive the server: those of the file at path are taken over,
// if the credential that they came with still stands, and what changes is
// written there. current says what a credential may do now, and which one of its
// name it is; logins of others are not kept. failed hears of what could not be
// written. Call it before the first request.
func (l *Logins) Keep(path string, current credentials, failed func(error)) error {
	l.keep = &keeper{path: path, current: current, failed: failed}
	text, err := secret.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("logins: %w", err)
	}
	var list []keptLogin
	if json.Unmarshal(text, &list) != nil {
		return nil // of another version, or torn: people log in again
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range list {
		hash, err := hex.DecodeString(k.Hash)
		c, of, ok := current(k.Name, k.Of)
		if err != nil || len(hash) != sha256.Size || !ok || of != k.Of {
			continue
		}
		if !c.Expires.IsZero() && c.Expires.Before(k.Until) {
			k.Until = c.Expires
		}
		c.Login, c.Expires, c.Life = k.Login, k.Until, harness.NewLife(c.Life)
		if o := (&login{caller: c, until: k.Until, last: k.Last}); o.valid(now) && len(l.book.open) < maxLogins {
			l.book.open[[32]byte(hash)] = o
		}
	}
	return nil
}

// same reports whether two callers of one name may do the same. An identity
// provider may vouch for somebody who is called like one of our tokens.
func same(a, b harness.Caller) bool {
	return a.User == b.User && a.Role == b.Role && a.Scope == b.Scope
}

// changed says that the file lacks something. mu is held.
func (l *Logins) changed() {
	if l.keep != nil {
		l.keep.dirty = true
	}
}

// used says that a login was used. mu is held.
func (l *Logins) used(now time.Time) {
	if l.share != nil {
		l.share.used(now)
	}
	if l.keep != nil && now.Sub(l.keep.saved) > writeUseEvery {
		l.keep.dirty = true
	}
}

// save writes the file if it lacks something. mu is not held.
func (l *Logins) save() {
	if l.keep == nil {
		return
	}
	l.saving.Lock()
	defer l.saving.Unlock()
	l.mu.Lock()
	if !l.keep.dirty {
		l.mu.Unlock()
		return
	}
	l.keep.dirty, l.keep.saved = false, time.Now()
	list := []keptLogin{}
	for hash, o := range l.book.open {
		if c, of, ok := l.keep.current(o.caller.Name, ""); ok && same(c, o.caller) {
			list = append(list, keptLogin{Hash: hex.EncodeToString(hash[:]), Login: o.caller.Login, Name: o.caller.Name, Of: of, Until: o.until, Last: o.last})
		}
	}
	l.mu.Unlock()
	text, err := json.Marshal(list)
	if err == nil {
		err = secret.Write(l.keep.path, text)
	}
	if err != nil {
		l.keep.failed(fmt.Errorf("logins: %w", err))
	}
}
