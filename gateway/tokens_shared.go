package gateway

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"harness"
	"harness/internal/paper"
)

// Shared is what servers on one store share.
type Shared interface {
	harness.Depot
	harness.Bells
}

// Where servers share what.
const (
	tokensPlace = "access/tokens"
	loginsPlace = "access/logins"
)

// sharedFor bounds how long a caller waits for what servers share.
const sharedFor = 5 * time.Second

// lookAfter is how soon a server looks again for a token, or a login, that it
// does not know: another one may just have made it.
const lookAfter = 200 * time.Millisecond

// lookAgainAfter is how long after a failure it looks again for what others have
// done: until then it knows of no end of a token or a login.
const lookAgainAfter = 5 * time.Second

// Owner is the first token of a server, for the others. The token itself is in
// a file of that server.
type Owner struct {
	Server  string    `json:"server"` // whose it is
	SHA256  string    `json:"sha256"`
	Created time.Time `json:"created"`
}

// SharedTokens are the named tokens that servers share, by name, and the owners'.
func SharedTokens(ctx context.Context, d harness.Depot) ([]Token, []Owner, error) {
	text, _, err := paper.In(d, tokensPlace).Read(ctx, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("tokens: %w", err)
	}
	file, err := parseShared(text)
	return file.all(), file.Owners, err
}

func parseShared(text []byte) (tokenFile, error) {
	if len(text) == 0 {
		return tokenFile{}, nil
	}
	file, err := parseTokens(text, paper.Max)
	if err != nil {
		return file, fmt.Errorf("tokens that servers share: %w", err)
	}
	for _, o := range file.Owners {
		if b, err := hex.DecodeString(o.SHA256); err != nil || len(b) != 32 {
			return file, fmt.Errorf("tokens that servers share: the owner's of %s has no SHA-256: %w", o.Server, harness.ErrCorrupt)
		}
	}
	return file, nil
}

// changeShared changes the tokens that servers share. Nothing is written if
// nothing has changed.
func changeShared(ctx context.Context, d harness.Depot, change func(*tokenFile) error) error {
	_, err := paper.In(d, tokensPlace).Change(ctx, func(text []byte) ([]byte, error) {
		file, err := parseShared(text)
		if err != nil {
			return nil, err
		}
		was, err := json.Marshal(file)
		if err != nil {
			return nil, err
		}
		if err := change(&file); err != nil {
			return nil, err
		}
		is, err := json.Marshal(file)
		if err != nil || string(is) == string(was) {
			return nil, err
		}
		return is, nil
	})
	return err
}

// AddSharedToken is [AddToken] for all servers that share a depot.
func AddSharedToken(ctx context.Context, d harness.Depot, t Token) (token string, err error) {
	if token, err = t.grant(); err != nil {
		return "", err
	}
	err = changeShared(ctx, d, func(f *tokenFile) error {
		all, err := t.join(f.all())
		f.set(all)
		return err
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// RemoveSharedToken ends a named token on all servers that share a depot, or the
// validity of an owner's on the others: those are called owner@SERVER.
func RemoveSharedToken(ctx context.Context, d harness.Depot, name string) error {
	return changeShared(ctx, d, func(f *tokenFile) error {
		owners := slices.DeleteFunc(slices.Clone(f.Owners), func(o Owner) bool { return o.Name() == name })
		if len(owners) < len(f.Owners) {
			f.Owners = owners
			return nil
		}
		all, err := without(name)(f.all())
		f.set(all)
		return err
	})
}

// Name is what people call it.
func (o Owner) Name() string { return ownerName + "@" + o.Server }

// enrol makes the first token of this server valid on the others, in the place of
// an earlier one.
func (t *Tokens) enrol(ctx context.Context, hash string) error {
	return changeShared(ctx, t.opts.Shared, func(f *tokenFile) error {
		i := slices.IndexFunc(f.Owners, func(o Owner) bool { return o.Server == t.opts.Server })
		o := Owner{t.opts.Server, hash, time.Now().UTC().Truncate(time.Second)}
		switch {
		case i < 0:
			f.Owners = append(f.Owners, o)
		case f.Owners[i].SHA256 != hash:
			f.Owners[i] = o
		}
		return nil
	})
}

// surrender gives the named tokens of the data directory to all servers. The
// file has another name then. One whose name is taken by another is left in it,
// is not valid any more, and that is said: nobody else would notice.
func (t *Tokens) surrender(ctx context.Context) error {
	mine, err := NamedTokens(t.dir)
	if err != nil || len(mine) == 0 {
		return err
	}
	var taken []string
	err = changeShared(ctx, t.opts.Shared, func(f *tokenFile) error {
		all := f.all()
		taken = taken[:0]
		for _, m := range mine {
			with, err := m.join(all)
			switch {
			case err == nil:
				all = with
			case !errors.Is(err, harness.ErrExists):
				return err
			case !slices.ContainsFunc(all, func(other Token) bool { return other.SHA256 == m.SHA256 }):
				taken = append(taken, m.Name)
			}
		}
		f.set(all)
		return nil
	})
	if err != nil {
		return fmt.Errorf("share the tokens of %s: %w", t.dir, err)
	}
	path := filepath.Join(t.dir, namedTokensFile)
	if err := os.Rename(path, path+".shared"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	t.opts.Log.Info("the tokens of the data directory are shared by all servers now", "count", len(mine)-len(taken))
	for _, name := range taken {
		t.opts.Log.Warn("a token of the data directory is not valid any more: the servers have another of its name; make one with another name (harness token add --store) and give it to whoever had this one",
			"token", name, "kept_in", path+".shared")
	}
	return nil
}

// named are the tokens that are not this server's own.
func (t *Tokens) named(ctx context.Context) (all []Token, owners []Owner, err error) {
	if t.opts.Shared == nil {
		all, err = NamedTokens(t.dir)
		return all, nil, err
	}
	text, version, err := paper.In(t.opts.Shared, tokensPlace).Read(ctx, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("tokens: %w", err)
	}
	file, err := parseShared(text)
	if err == nil {
		t.version.Store(version)
	}
	return file.all(), file.Owners, err
}

// lookAgain is when to look after a look: if it failed, soon, because no bell
// rings for the same change twice.
func lookAgain(ok bool) <-chan time.Time {
	if ok {
		return nil
	}
	return time.After(lookAgainAfter)
}

// look asks whether other servers have changed something. What fails before ctx
// ends is told.
func (t *Tokens) look(ctx context.Context) (ok bool) {
	reading, cancel := context.WithTimeout(ctx, sharedFor)
	defer cancel()
	text, _, err := paper.In(t.opts.Shared, tokensPlace).Read(reading, t.version.Load())
	if err == nil && text != nil {
		err = t.load(reading, t.stamps())
	}
	if err != nil && ctx.Err() == nil {
		t.opts.Log.Error("shared tokens not read again, the old ones stay", "err", err)
	}
	return err == nil
}

// lookSoon is look, but not more often than it helps: strangers can have it done.
func (t *Tokens) lookSoon() (looked bool) {
	now, last := time.Now().UnixNano(), t.asked.Load()
	if t.opts.Shared == nil || now-last < int64(lookAfter) || !t.asked.CompareAndSwap(last, now) {
		return false
	}
	t.look(context.Background())
	return true
}
