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

// ownerName is the name of the caller with the first token. Of several servers
// that share tokens, each has one: they are owner@SERVER.
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

	// Shared has the named tokens if several servers share them, and makes the
	// first token of each valid on all. Default: the data directory has them.
	Shared Shared
	// Server is what the others call this one; it is the same after a restart.
	Server string
}

// Tokens are the tokens of a data directory, as they are now: the files are
// looked at again when they have changed.
type Tokens struct {
	dir  string
	opts TokenOptions
	salt [32]byte // so that nobody can find out by timing where a token would stand

	looked  atomic.Int64  // when the files were, in Unix nanoseconds
	asked   atomic.Int64  // when somebody with an unknown token had them looked at, as well
	version atomic.Uint64 // of what is shared

	loading  sync.Mutex // guards enrolled and the writing of what is known, and is held while tokens are read
	enrolled string     // the hash of the first token, as the others know it

	mu     sync.RWMutex // guards what follows
	stamp  [2]stamp
	byHash map[[32]byte]known
	own    [32]byte // the hash of the first token
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
	ctx, cancel := context.WithTimeout(context.Background(), openFor)
	defer cancel()
	if t.opts.Shared != nil {
		if err := t.surrender(ctx); err != nil {
			return nil, err
		}
	}
	if err := t.load(ctx, t.stamps()); err != nil {
		return nil, err
	}
	t.looked.Store(time.Now().UnixNano())
	return t, nil
}

// openFor bounds how long a server waits for what is shared, at its start.
const openFor = 30 * time.Second

// load reads both files, or the first and what is shared.
func (t *Tokens) load(ctx context.Context, now [2]stamp) error {
	t.loading.Lock()
	defer t.loading.Unlock()
	first, _, err := FirstToken(t.dir)
	if err != nil {
		return err
	}
	own := sha256.Sum256([]byte(first))
	if t.opts.Shared != nil {
		if hash := hex.EncodeToString(own[:]); hash != t.enrolled {
			if err := t.enrol(ctx, hash); err != nil {
				return fmt.Errorf("tokens: %w", err)
			}
			t.enrolled = hash
		}
	}
	named, owners, err := t.named(ctx)
	if err != nil {
		return err
	}
	all := make(map[[32]byte]known, len(named)+1)
	add := func(text string, c harness.Caller) (err error) {
		var hash [32]byte
		if _, err = hex.Decode(hash[:], []byte(text)); err == nil {
			all[t.place(hash)] = known{hash, c}
		}
		return err
	}
	for _, n := range named {
		if err := add(n.SHA256, n.caller()); err != nil {
			return fmt.Errorf("token %s: %w", n.Name, err)
		}
	}
	for _, o := range owners {
		if err := add(o.SHA256, t.owner(o.Name())); err != nil {
			return fmt.Errorf("token %s: %w", o.Name(), err)
		}
	}
	all[t.place(own)] = known{own, t.owner(t.ownerName())}
	ended := succeed(all, t.byHash) // which nobody else writes
	if now[0].info == nil {         // it was just made
		now = t.stamps()
	}
	t.mu.Lock()
	t.byHash, t.stamp, t.own = all, now, own
	t.mu.Unlock()
	for _, k := range ended {
		k.caller.Life.End()
	}
	for _, k := range ended {
		t.opts.OnRevoke(k.caller.Name)
	}
	return nil
}

// succeed lets the tokens go on living that were valid before, as they were, and
// has the others begin. It returns those that are not valid any more.
func succeed(all, was map[[32]byte]known) (ended []known) {
	for place, k := range all {
		before, ok := was[place]
		if k.caller.Life = before.caller.Life; !ok || k != before {
			k.caller.Life = harness.NewLife(nil)
		}
		all[place] = k
	}
	for place, k := range was {
		if all[place] != k {
			ended = append(ended, k)
		}
	}
	return ended
}

// Owner is the caller with this server's first token.
func (t *Tokens) Owner() harness.Caller {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byHash[t.place(t.own)].caller
}

func (t *Tokens) ownerName() string {
	if t.opts.Shared != nil {
		return Owner{Server: t.opts.Server}.Name()
	}
	return ownerName
}

func (t *Tokens) owner(name string) harness.Caller {
	return harness.Caller{Name: name, User: t.opts.Owner, Role: harness.Admin}
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
	var bell <-chan struct{} // for ever silent without others
	var again <-chan time.Time
	if t.opts.Shared != nil {
		hung, away := t.opts.Shared.Hang(harness.AboutPlace(tokensPlace))
		defer away()
		bell = hung
		again = lookAgain(t.look(ctx)) // something may have come before it was hung
	}
	for {
		select {
		case <-tick.C:
			t.refresh()
		case <-bell:
			again = lookAgain(t.look(ctx))
		case <-again:
			again = lookAgain(t.look(ctx))
		case <-ctx.Done():
			return
		}
	}
}

// Reload reads the tokens now: for whoever has just changed them here.
func (t *Tokens) Reload(ctx context.Context) error { return t.load(ctx, t.stamps()) }

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
	ctx, cancel := context.WithTimeout(context.Background(), sharedFor)
	defer cancel()
	if err := t.load(ctx, stamps); err != nil {
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
// Of several owners it is the own one's, unless of is the mark of another.
func (t *Tokens) Named(name, of string) (c harness.Caller, mark string, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, k := range t.byHash {
		if k.caller.Name != name || !k.caller.Expires.IsZero() && !time.Now().Before(k.caller.Expires) {
			continue
		}
		sum := sha256.Sum256(k.hash[:])
		if its := hex.EncodeToString(sum[:]); !ok || its == of || of == "" && k.hash == t.own {
			c, mark, ok = k.caller, its, true
		}
	}
	return c, mark, ok
}

// Caller is who comes with a token. It costs two hashes whether there is such a
// token or not.
func (t *Tokens) Caller(token string) (harness.Caller, bool) {
	t.refresh()
	hash := sha256.Sum256([]byte(token))
	find := func() (known, bool) {
		t.mu.RLock()
		defer t.mu.RUnlock()
		k, ok := t.byHash[t.place(hash)]
		return k, ok
	}
	k, ok := find()
	if !ok && t.lookSoon() {
		k, ok = find()
	}
	if subtle.ConstantTimeCompare(k.hash[:], hash[:]) != 1 || !ok {
		return harness.Caller{}, false
	}
	if e := k.caller.Expires; !e.IsZero() && !time.Now().Before(e) {
		return harness.Caller{}, false
	}
	return k.caller, true
}
