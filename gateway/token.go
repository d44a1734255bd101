package gateway

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"harness"
	"harness/gateway/secret"
	"harness/internal/flock"
	"harness/internal/strict"
)

// The files of credentials in the data directory.
const (
	firstTokenFile  = "token"       // the token itself: for the owner's own clients
	namedTokensFile = "tokens.json" // hashes only
)

// TokenPrefix begins every token, so that people and scanners know one when
// they see it.
const TokenPrefix = "hk_"

// MaxTokens bounds the named tokens of a server: more than anybody can keep
// track of.
const MaxTokens = 1000

// maxTokenName bounds the name of a token.
const maxTokenName = 64

// random is n fresh bytes in letters that need no escaping anywhere.
func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// newToken has 256 bits that nobody can guess.
func newToken() string { return TokenPrefix + random(32) }

// Token is a named token as the server keeps it: whoever reads this cannot use
// it.
type Token struct {
	Name    string             `json:"name"`
	User    string             `json:"user,omitempty"`
	Role    harness.CallerRole `json:"role"`
	Scope   []string           `json:"scope,omitempty"` // see [ParseScope]
	SHA256  string             `json:"sha256"`
	Created time.Time          `json:"created"`
	Expires *time.Time         `json:"expires,omitempty"`
}

// caller is who comes with the token.
func (t Token) caller() harness.Caller {
	c := harness.Caller{Name: t.Name, User: t.User, Role: t.Role}
	c.Scope, _ = ParseScope(t.Scope...) // was checked
	if t.Expires != nil {
		c.Expires = t.Expires.UTC()
	}
	return c
}

// check refuses a token that could not have been granted.
func (t Token) check() error {
	if err := harness.CheckID("token name", t.Name); err != nil || len(t.Name) > maxTokenName {
		return cmp.Or(err, fmt.Errorf("token name: longer than %d: %w", maxTokenName, harness.ErrInvalid))
	}
	if t.Name == ownerName {
		return fmt.Errorf("token name %q is the first token's: %w", t.Name, harness.ErrInvalid)
	}
	if b, err := hex.DecodeString(t.SHA256); err != nil || len(b) != sha256.Size {
		return fmt.Errorf("token %s: no SHA-256: %w", t.Name, harness.ErrInvalid)
	}
	if _, err := ParseScope(t.Scope...); err != nil {
		return fmt.Errorf("token %s: %w", t.Name, err)
	}
	if err := t.caller().Check(); err != nil {
		return fmt.Errorf("token %s: %w", t.Name, err)
	}
	return nil
}

// AddToken makes a named token for the servers of a data directory, also for
// one that runs, and returns it. It is shown this once. A name that is taken is
// ErrExists.
func AddToken(dir string, t Token) (token string, err error) {
	if token, err = t.grant(); err != nil {
		return "", err
	}
	if err := changeTokens(dir, t.join); err != nil {
		return "", err
	}
	return token, nil
}

// grant makes t one that can be kept, and returns the token itself.
func (t *Token) grant() (token string, err error) {
	token = newToken()
	sum := sha256.Sum256([]byte(token))
	t.SHA256, t.Created = hex.EncodeToString(sum[:]), time.Now().UTC().Truncate(time.Second)
	if err := t.check(); err != nil {
		return "", err
	}
	if t.Expires != nil && !t.Expires.After(time.Now()) {
		return "", fmt.Errorf("token %s: has expired already: %w", t.Name, harness.ErrInvalid)
	}
	return token, nil
}

// join is all with t.
func (t Token) join(all []Token) ([]Token, error) {
	switch {
	case slices.ContainsFunc(all, func(o Token) bool { return o.Name == t.Name }):
		return nil, fmt.Errorf("token %s: there is one of that name: %w", t.Name, harness.ErrExists)
	case len(all) >= MaxTokens:
		return nil, fmt.Errorf("there are %d tokens already: %w", len(all), harness.ErrTooLarge)
	}
	return append(all, t), nil
}

// without is a list without the token of a name.
func without(name string) func([]Token) ([]Token, error) {
	return func(all []Token) ([]Token, error) {
		rest := slices.DeleteFunc(slices.Clone(all), func(o Token) bool { return o.Name == name })
		if len(rest) == len(all) {
			return nil, fmt.Errorf("no token %q: %w", name, harness.ErrInvalid)
		}
		return rest, nil
	}
}

// RemoveToken ends a named token. A server that runs refuses it within
// [reloadAfter].
func RemoveToken(dir, name string) error {
	return changeTokens(dir, without(name))
}

// NamedTokens are the named tokens of a data directory, by name.
func NamedTokens(dir string) ([]Token, error) {
	path := filepath.Join(dir, namedTokensFile)
	b, err := secret.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	file, err := parseTokens(b, secret.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file.all(), nil
}

// parseTokens reads a file of tokens, and refuses one that nobody wrote.
func parseTokens(text []byte, limit int) (file tokenFile, err error) {
	if err := strict.Check(text, limit); err != nil {
		return file, fmt.Errorf("%w: %w", err, harness.ErrCorrupt)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return file, fmt.Errorf("%w: %w", err, harness.ErrCorrupt)
	}
	if slices.ContainsFunc(file.Scoped, func(t Token) bool { return len(t.Scope) == 0 }) {
		return file, fmt.Errorf("a token of those with a scope has none: %w", harness.ErrCorrupt)
	}
	all := file.all()
	for i, t := range all {
		if err := t.check(); err != nil {
			return file, err
		}
		if i > 0 && t.Name == all[i-1].Name {
			return file, fmt.Errorf("two tokens are called %s: %w", t.Name, harness.ErrCorrupt)
		}
	}
	return file, nil
}

// all are the named tokens, by name.
func (f tokenFile) all() []Token {
	all := slices.Concat(f.Tokens, f.Scoped)
	slices.SortFunc(all, func(a, b Token) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// set makes all the named tokens.
func (f *tokenFile) set(all []Token) {
	f.Tokens, f.Scoped = []Token{}, nil
	for _, t := range all {
		if len(t.Scope) > 0 {
			f.Scoped = append(f.Scoped, t)
		} else {
			f.Tokens = append(f.Tokens, t)
		}
	}
}

// tokenFile is the file of named tokens. Those with a scope stand apart: a
// version that does not know of scopes does not know these tokens either.
type tokenFile struct {
	Tokens []Token `json:"tokens"`
	Scoped []Token `json:"scoped,omitempty"`
	Owners []Owner `json:"owners,omitempty"` // only where servers share it
}

// changeTokens replaces the list of named tokens by what change makes of it.
func changeTokens(dir string, change func([]Token) ([]Token, error)) error {
	lock, err := flock.Take(filepath.Join(dir, namedTokensFile+".lock"))
	if err != nil {
		return err
	}
	defer lock.Release()
	all, err := NamedTokens(dir)
	if err != nil {
		return err
	}
	if all, err = change(all); err != nil {
		return err
	}
	var file tokenFile
	file.set(all)
	b, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	return secret.Write(filepath.Join(dir, namedTokensFile), append(b, '\n'))
}

// FirstToken is the token of a data directory's owner, which is made if there
// is none, and the file that has it.
func FirstToken(dir string) (token, path string, err error) {
	path = filepath.Join(dir, firstTokenFile)
	b, err := secret.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		token = newToken()
		if err = secret.Create(path, []byte(token+"\n")); err == nil {
			return token, path, nil
		}
		if errors.Is(err, fs.ErrExist) { // somebody was faster
			b, err = secret.Read(path)
		}
	}
	if err != nil {
		return "", path, err
	}
	token, err = parseToken(string(b))
	if err != nil {
		return "", path, fmt.Errorf("%s: %w; remove it and a new one is made", path, err)
	}
	return token, path, nil
}

// parseToken is the token in a file, if it is as long as ours.
func parseToken(s string) (string, error) {
	s = strings.TrimSpace(s)
	if b, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(s, TokenPrefix)); err != nil || len(b) < 32 || !strings.HasPrefix(s, TokenPrefix) {
		return "", fmt.Errorf("no token of 256 bits: %w", harness.ErrInvalid)
	}
	return s, nil
}
