package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/gateway"
)

func openTokens(t testing.TB, dir string, opts *gateway.TokenOptions) *gateway.Tokens {
	t.Helper()
	k, err := gateway.OpenTokens(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestTheFirstTokenIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	made := make([]string, 8)
	for i := range made {
		all.Go(func() {
			token, _, err := gateway.FirstToken(dir)
			if err != nil {
				t.Error(err)
			}
			made[i] = token
		})
	}
	all.Wait()
	for _, m := range made {
		if m != made[0] || !strings.HasPrefix(m, "hk_") || len(m) != 3+43 {
			t.Errorf("tokens %q", made)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "token"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	c, ok := openTokens(t, dir, &gateway.TokenOptions{Owner: "me"}).Caller(made[0])
	if want := (harness.Caller{Name: "owner", User: "me", Role: harness.Admin, Life: c.Life}); !ok || c != want {
		t.Errorf("%+v, %t", c, ok)
	}
}

func TestAServerDoesNotStartWithAnOpenToken(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	for name, spoil := range map[string]func(dir string) error{
		"group": func(dir string) error { return os.Chmod(filepath.Join(dir, "token"), 0o640) },
		"world": func(dir string) error { return os.Chmod(filepath.Join(dir, "token"), 0o604) },
		"named": func(dir string) error { return os.Chmod(filepath.Join(dir, "tokens.json"), 0o644) },
		"short": func(dir string) error { return os.WriteFile(filepath.Join(dir, "token"), []byte("hk_short"), 0o600) },
		"foreign": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "token"), []byte(strings.Repeat("x", 60)), 0o600)
		},
		"torn": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(`{"tokens":[{`), 0o600)
		},
		"twice": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(`{"tokens":[],"Tokens":[]}`), 0o600)
		},
		"role": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(`{"tokens":[{"name":"x","user":"u","role":"root","sha256":"`+strings.Repeat("0", 64)+`"}]}`), 0o600)
		},
		"link": func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "token"), filepath.Join(dir, "t")), os.Symlink(filepath.Join(dir, "t"), filepath.Join(dir, "token")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			openTokens(t, dir, nil)
			if _, err := gateway.AddToken(dir, gateway.Token{Name: "ci", User: "ci", Role: harness.Operator}); err != nil {
				t.Fatal(err)
			}
			openTokens(t, dir, nil)
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := gateway.OpenTokens(dir, nil); err == nil {
				t.Error("it started")
			}
		})
	}
}

func TestNamedTokensComeAndGoWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	revoked := make(chan string, 8)
	k := openTokens(t, dir, &gateway.TokenOptions{OnRevoke: func(name string) { revoked <- name }})
	token, err := gateway.AddToken(dir, gateway.Token{Name: "laptop", User: "alice", Role: harness.Approver})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "tokens.json")); err != nil || strings.Contains(string(b), token) || strings.Contains(string(b), token[3:]) {
		t.Errorf("the token itself is on disk: %s, %v", b, err)
	}
	await(t, func() bool { _, ok := k.Caller(token); return ok })
	c, _ := k.Caller(token)
	if want := (harness.Caller{Name: "laptop", User: "alice", Role: harness.Approver, Life: c.Life}); c != want || c.Life == nil || c.Life.Over() {
		t.Errorf("%+v", c)
	}
	if err := gateway.RemoveToken(dir, "laptop"); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { _, ok := k.Caller(token); return !ok })
	await(t, c.Life.Over) // who came with it is nobody any more
	if name := <-revoked; name != "laptop" {
		t.Errorf("revoked %q", name)
	}
	if err := gateway.RemoveToken(dir, "laptop"); err == nil {
		t.Error("removed twice")
	}
	// A change that cannot be read leaves what was.
	other, err := gateway.AddToken(dir, gateway.Token{Name: "other", User: "bob", Role: harness.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { _, ok := k.Caller(other); return ok })
	if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(1500 * time.Millisecond)
	await(t, func() bool { return time.Now().After(deadline) })
	if _, ok := k.Caller(other); !ok {
		t.Error("a torn file threw everybody out")
	}
}

func TestARevocationIsToldWhileNobodyComes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := gateway.AddToken(dir, gateway.Token{Name: "laptop", User: "alice", Role: harness.Viewer}); err != nil {
		t.Fatal(err)
	}
	revoked := make(chan string, 1)
	k := openTokens(t, dir, &gateway.TokenOptions{OnRevoke: func(name string) { revoked <- name }})
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() { k.Follow(ctx) })
	if err := gateway.RemoveToken(dir, "laptop"); err != nil {
		t.Error(err)
	}
	if name := <-revoked; name != "laptop" {
		t.Errorf("revoked %q", name)
	}
	cancel()
	following.Wait()
}

func TestTokensAreBounded(t *testing.T) {
	t.Parallel()
	for have, want := range map[int]error{gateway.MaxTokens - 1: nil, gateway.MaxTokens: harness.ErrTooLarge} {
		dir := t.TempDir()
		var b strings.Builder
		for i := range have {
			fmt.Fprintf(&b, `,{"name":"t%d","user":"u","role":"viewer","sha256":"%064x","created":"2026-01-02T03:04:05Z"}`, i, i)
		}
		if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(`{"tokens":[`+b.String()[1:]+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := gateway.AddToken(dir, gateway.Token{Name: "more", User: "u", Role: harness.Viewer}); !errors.Is(err, want) {
			t.Errorf("one more than %d: %v", have, err)
		}
	}
}

// await looks until a condition holds.
func await(t testing.TB, cond func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it never came true")
		}
	}
}

func TestWhatIsNoTokenIsNotAdded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	past := time.Now().Add(-time.Minute)
	if _, err := gateway.AddToken(dir, gateway.Token{Name: "ok", User: "u", Role: harness.Viewer}); err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]gateway.Token{
		"twice":            {Name: "ok", User: "u", Role: harness.Viewer},
		"the owner's name": {Name: "owner", User: "u", Role: harness.Viewer},
		"no name":          {User: "u", Role: harness.Viewer},
		"a bad name":       {Name: "a\nb", User: "u", Role: harness.Viewer},
		"a long name":      {Name: strings.Repeat("x", 65), User: "u", Role: harness.Viewer},
		"no role":          {Name: "x", User: "u"},
		"no user":          {Name: "x", Role: harness.Approver},
		"a bad user":       {Name: "x", User: "../x", Role: harness.Approver},
		"no time left":     {Name: "x", User: "u", Role: harness.Viewer, Expires: &past},
	} {
		if _, err := gateway.AddToken(dir, k); err == nil {
			t.Errorf("%s: added", name)
		}
	}
	if all, err := gateway.NamedTokens(dir); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestATokenExpires(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	soon := time.Now().Add(1200 * time.Millisecond)
	token, err := gateway.AddToken(dir, gateway.Token{Name: "brief", User: "u", Role: harness.Viewer, Expires: &soon})
	if err != nil {
		t.Fatal(err)
	}
	k := openTokens(t, dir, nil)
	if _, ok := k.Caller(token); !ok && time.Now().Before(soon) {
		t.Error("not valid yet")
	}
	await(t, func() bool { return time.Now().After(soon) })
	if _, ok := k.Caller(token); ok {
		t.Error("still valid")
	}
}

// TestNothingLikeATokenIsOne is attack 9.
func TestNothingLikeATokenIsOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := openTokens(t, dir, nil)
	token, _, err := gateway.FirstToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"", token[:len(token)-1], token[1:], strings.ToUpper(token), token + "\x00", token + " ", " " + token, token + token, "hk_", "null", "undefined"} {
		if _, ok := k.Caller(s); ok {
			t.Errorf("%q is taken for a token", s)
		}
	}
}
