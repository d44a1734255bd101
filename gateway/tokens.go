package gateway

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"harness"
)

// ownerName is the name of the caller with the first token.
const ownerName = "owner"

// reloadAfter is how long a change of the files may go unnoticed: a look at
// them costs less than the hash of a token, and is made once in this time.
const reloadAfter = time.Second

// TokenOptions are the settings of tokens. The zero value works.
type TokenOptions struct {
	Log *slog.Logger // default: discard

	// Owner is the user whose sessions the first token makes. Default: none, so
	// that they are seen by admins only.
	Owner string
	// OnRevoke is told the name of each token that has ceased to be valid as it
	// was, so that what was opened with it can be closed. It must not block.
	OnRevoke func(name string)
}

// Tokens are the tokens of a data directory, as they are now: the files are
// looked at again when they have changed.
type Tokens struct {
	dir  string
	opts TokenOptions
	salt [32]byte // so that nobody can find out by timing where a token would stand

	looked atomic.Int64 // when the files were, in Unix nanoseconds

	mu     sync.RWMutex // guards what follows
	stamp  [2]stamp
	byHash map[[32]byte]known
}

// known is a token that is valid.
type known struct {
	hash   [32]byte
	caller harness.Caller
}

// stamp is enough of a file to see that it has changed.
type stamp struct {
	size int64
	time time.Time
	info os.FileInfo // nil: not there
}

// OpenTokens makes the first token of a data directory, if there is none, and
// reads the others. Files that others can read are refused.
func OpenTokens(dir string, opts *TokenOptions) (*Tokens, error) {
	t := &Tokens{dir: dir}
	if opts != nil {
		t.opts = *opts
	}
	if t.opts.Log == nil {
		t.opts.Log = slog.New(slog.DiscardHandler)
	}
	if t.opts.OnRevoke == nil {
		t.opts.OnRevoke = func(string) {}
	}
	rand.Read(t.salt[:]) // it never fails
	if err := t.load(t.stamps()); err != nil {
		return nil, err
	}
	t.looked.Store(time.Now().UnixNano())
	return t, nil
}

// load reads both files.
func (t *Tokens) load(now [2]stamp) error {
	first, _, err := FirstToken(t.dir)
	if err != nil {
		return err
	}
	named, err := NamedTokens(t.dir)
	if err != nil {
		return err
	}
	all := make(map[[32]byte]known, len(named)+1)
	add := func(hash [32]byte, c harness.Caller) { all[t.place(hash)] = known{hash, c} }
	add(sha256.Sum256([]byte(first)), harness.Caller{Name: ownerName, User: t.opts.Owner, Role: harness.Admin})
	for _, n := range named {
		var hash [32]byte
		if _, err := hex.Decode(hash[:], []byte(n.SHA256)); err != nil {
			return fmt.Errorf("token %s: %w", n.Name, err)
		}
		add(hash, n.caller())
	}
	if now[0].info == nil { // it was just made
		now = t.stamps()
	}
	t.mu.Lock()
	was := t.byHash
	t.byHash, t.stamp = all, now
	t.mu.Unlock()
	for place, k := range was {
		if is, ok := all[place]; !ok || is != k {
			t.opts.OnRevoke(k.caller.Name)
		}
	}
	return nil
}

func (t *Tokens) stamps() (now [2]stamp) {
	for i, name := range []string{firstTokenFile, namedTokensFile} {
		if info, err := os.Lstat(filepath.Join(t.dir, name)); err == nil {
			now[i] = stamp{info.Size(), info.ModTime(), info}
		}
	}
	return now
}

func (a stamp) same(b stamp) bool {
	if a.info == nil || b.info == nil {
		return a.info == nil && b.info == nil
	}
	return a.size == b.size && a.time.Equal(b.time) && a.info.Mode() == b.info.Mode() && os.SameFile(a.info, b.info)
}

// Follow looks at the files until ctx ends, also while nobody comes with a
// token: so that OnRevoke is told in time.
func (t *Tokens) Follow(ctx context.Context) {
	tick := time.NewTicker(reloadAfter)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.refresh()
		case <-ctx.Done():
			return
		}
	}
}

// refresh looks at the files again, if it is time and they have changed. Files
// that cannot be read any more are an alarm, and what was known stays valid.
func (t *Tokens) refresh() {
	now, last := time.Now().UnixNano(), t.looked.Load()
	if now-last < int64(reloadAfter) || !t.looked.CompareAndSwap(last, now) {
		return
	}
	stamps := t.stamps()
	t.mu.RLock()
	same := stamps[0].same(t.stamp[0]) && stamps[1].same(t.stamp[1])
	t.mu.RUnlock()
	if same {
		return
	}
	if err := t.load(stamps); err != nil {
		t.opts.Log.Error("tokens not read again, the old ones stay", "err", err)
	}
}

// place is where a hash stands in the table.
func (t *Tokens) place(hash [32]byte) [32]byte {
	var b [64]byte
	copy(b[:32], t.salt[:])
	copy(b[32:], hash[:])
	return sha256.Sum256(b[:])
}

// Named is what the token of a name may do, and a mark that no other token has.
func (t *Tokens) Named(name string) (c harness.Caller, mark string, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, k := range t.byHash {
		if k.caller.Name == name && (k.caller.Expires.IsZero() || time.Now().Before(k.caller.Expires)) {
			sum := sha256.Sum256(k.hash[:])
			return k.caller, hex.EncodeToString(sum[:]), true
		}
	}
	return harness.Caller{}, "", false
}

// Caller is who comes with a token. It costs two hashes whether there is such a
// token or not.
func (t *Tokens) Caller(token string) (harness.Caller, bool) {
	t.refresh()
	hash := sha256.Sum256([]byte(token))
	t.mu.RLock()
	k, ok := t.byHash[t.place(hash)]
	t.mu.RUnlock()
	if subtle.ConstantTimeCompare(k.hash[:], hash[:]) != 1 || !ok {
		return harness.Caller{}, false
	}
	if e := k.caller.Expires; !e.IsZero() && !time.Now().Before(e) {
		return harness.Caller{}, false
	}
	return k.caller, true
}
