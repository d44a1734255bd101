package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
	"harness/gateway"
	"harness/store/memory"
)

// sharing is a server that shares tokens and logins with others.
type sharing struct {
	t      *testing.T
	dir    string
	tokens *gateway.Tokens
	logins *gateway.Logins
	stop   func()
	ended  chan string // tokens and logins, as it hears of their end; room for all of a test
}

func newSharing(t *testing.T, d gateway.Shared, name, dir string) *sharing {
	t.Helper()
	names, err := gateway.NewNames(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: len(name) + 7000}, false)
	if err != nil {
		t.Fatal(err)
	}
	s := &sharing{t: t, dir: dir, ended: make(chan string, 100)}
	s.logins = gateway.NewLogins(names, func(login string) { s.ended <- login })
	s.tokens = openTokens(t, dir, &gateway.TokenOptions{Shared: d, Server: name, OnRevoke: func(name string) {
		s.logins.EndOf(name)
		s.ended <- name
	}})
	if err := s.logins.Share(t.Context(), d, s.tokens.Named, func(err error) {
		if _, cut := d.(*cut); !cut {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() { s.tokens.Follow(ctx) })
	following.Go(func() { s.logins.Follow(ctx) })
	s.stop = func() {
		cancel()
		following.Wait()
	}
	t.Cleanup(s.stop)
	return s
}

// hears waits for the end of something.
func (s *sharing) hears(what string) {
	s.t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case got := <-s.ended:
			if got == what {
				return
			}
		case <-late:
			s.t.Fatalf("it does not hear of the end of %s", what)
		}
	}
}

func (s *sharing) browser(secret string) (harness.Caller, bool) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", "/", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: s.logins.CookieName(), Value: secret})
	return s.logins.CallerOf(r)
}

// waits until a condition holds that nobody tells of.
func waits(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); !cond(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestATokenIsValidOnEveryServerUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	a, b := newSharing(t, depot, "a", t.TempDir()), newSharing(t, depot, "b", t.TempDir())
	bob := gateway.Token{Name: "bob", User: "bob", Role: harness.Operator, Scope: []string{"read"}}
	token, err := gateway.AddSharedToken(t.Context(), depot, bob)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.AddSharedToken(t.Context(), depot, bob); !errors.Is(err, harness.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
	for _, s := range []*sharing{a, b} {
		waits(t, "the token", func() bool { c, ok := s.tokens.Caller(token); return ok && c.User == "bob" && c.Scope != "" })
		for _, other := range []*sharing{a, b} {
			owners, _, err := gateway.FirstToken(other.dir)
			if err != nil {
				t.Fatal(err)
			}
			waits(t, "an owner's token", func() bool { c, ok := s.tokens.Caller(owners); return ok && c.Role == harness.Admin })
		}
	}
	f, err := depot.Fetch(t.Context(), "access/tokens", "text")
	if err != nil {
		t.Fatal(err)
	}
	kept := make([]byte, 10_000)
	n, _ := f.Read(kept)
	if n == 0 || strings.Contains(string(kept), token) {
		t.Error("what is kept can be used")
	}
	if err := gateway.RemoveSharedToken(t.Context(), depot, "bob"); err != nil {
		t.Fatal(err)
	}
	if err := gateway.RemoveSharedToken(t.Context(), depot, "bob"); !errors.Is(err, harness.ErrInvalid) {
		t.Errorf("removed twice: %v", err)
	}
	for _, s := range []*sharing{a, b} {
		s.hears("bob")
		if _, ok := s.tokens.Caller(token); ok {
			t.Error("it is valid after its end")
		}
	}
}

// TestTheOwnersTokenOfAServerThatChangesItIsAnother: the others take the new one,
// and no longer the old one; nor one that was removed there.
func TestTheOwnersTokenOfAServerThatChangesItIsAnother(t *testing.T) {
	t.Parallel()
	depot, dir := memory.NewDepot(), t.TempDir()
	a := newSharing(t, depot, "a", dir)
	b := newSharing(t, depot, "b", t.TempDir())
	old, path, err := gateway.FirstToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	a.stop()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	newSharing(t, depot, "a", dir) // it starts again
	b.hears("owner@a")
	fresh, _, err := gateway.FirstToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	waits(t, "the new one", func() bool { _, ok := b.tokens.Caller(fresh); return ok })
	if _, ok := b.tokens.Caller(old); ok {
		t.Error("the old one is valid")
	}
	if err := gateway.RemoveSharedToken(t.Context(), depot, "owner@a"); err != nil {
		t.Fatal(err)
	}
	waits(t, "its end elsewhere", func() bool { _, ok := b.tokens.Caller(fresh); return !ok })
}

// TestTheEndOfAnOwnersTokenIsNoOthersEnd: servers hear of the one that was
// removed, and no owner of another is disconnected.
func TestTheEndOfAnOwnersTokenIsNoOthersEnd(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	a, b := newSharing(t, depot, "a", t.TempDir()), newSharing(t, depot, "b", t.TempDir())
	first, _, err := gateway.FirstToken(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	waits(t, "b's owner on a", func() bool { c, ok := a.tokens.Caller(first); return ok && c.Name == "owner@b" })
	mine, foreign := begin(t, a.logins, a.tokens.Owner()), begin(t, a.logins, b.tokens.Owner())
	if err := gateway.RemoveSharedToken(t.Context(), depot, "owner@b"); err != nil {
		t.Fatal(err)
	}
	a.hears("owner@b")
	waits(t, "the end of its logins", func() bool { _, ok := a.browser(foreign); return !ok })
	if c, ok := a.browser(mine); !ok || c.Name != "owner@a" {
		t.Errorf("a's own owner is %+v, %t", c, ok)
	}
	if c, ok := b.tokens.Caller(first); !ok || c.Name != "owner@b" {
		t.Errorf("at home it is %+v, %t", c, ok)
	}
	for len(a.ended) > 0 {
		if what := <-a.ended; strings.HasPrefix(what, "owner") {
			t.Errorf("a hears of the end of %s", what)
		}
	}
}

func TestTokensOfADataDirectoryAreSharedWhenItsServerIs(t *testing.T) {
	t.Parallel()
	depot, dir := memory.NewDepot(), t.TempDir()
	token, err := gateway.AddToken(dir, gateway.Token{Name: "early", User: "u", Role: harness.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	newSharing(t, depot, "a", dir)
	if _, ok := newSharing(t, depot, "b", t.TempDir()).tokens.Caller(token); !ok {
		t.Error("the other server does not know it")
	}
	if _, err := os.Stat(filepath.Join(dir, "tokens.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if all, _, err := gateway.SharedTokens(t.Context(), depot); err != nil || len(all) != 1 || all[0].Name != "early" {
		t.Errorf("shared are %v, %v", all, err)
	}
}

// TestATokenWhoseNameIsTakenIsSaidToBeLost: it does not work, so somebody must
// hear of it, and of what to do; what is counted as shared is shared.
func TestATokenWhoseNameIsTakenIsSaidToBeLost(t *testing.T) {
	t.Parallel()
	depot, dir := memory.NewDepot(), t.TempDir()
	laptop := gateway.Token{Name: "laptop", User: "u", Role: harness.Viewer}
	if _, err := gateway.AddSharedToken(t.Context(), depot, laptop); err != nil {
		t.Fatal(err)
	}
	lost, err := gateway.AddToken(dir, laptop)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := gateway.AddToken(dir, gateway.Token{Name: "phone", User: "u", Role: harness.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	tokens := openTokens(t, dir, &gateway.TokenOptions{Shared: depot, Server: "a", Log: slog.New(slog.NewTextHandler(&said, nil))})
	if _, ok := tokens.Caller(lost); ok {
		t.Error("two tokens of one name are valid")
	}
	if _, ok := tokens.Caller(kept); !ok {
		t.Error("the other is not valid")
	}
	for _, want := range []string{"level=WARN", "token=laptop", "harness token add", "count=1"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not in\n%s", want, &said)
		}
	}
}

func TestABrowserIsLoggedInToEveryServer(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	a, b, c := newSharing(t, depot, "a", t.TempDir()), newSharing(t, depot, "bb", t.TempDir()), newSharing(t, depot, "ccc", t.TempDir())
	if a.logins.CookieName() != b.logins.CookieName() {
		t.Fatalf("cookies %s and %s", a.logins.CookieName(), b.logins.CookieName())
	}
	bob, err := gateway.AddSharedToken(t.Context(), depot, gateway.Token{Name: "bob", User: "bob", Role: harness.Operator})
	if err != nil {
		t.Fatal(err)
	}
	waits(t, "the token", func() bool { _, ok := a.tokens.Caller(bob); return ok })
	caller, _ := a.tokens.Caller(bob)
	// The code of one, exchanged at another, good at a third.
	code := codeFor(t, a.logins, caller)
	waits(t, "the token there", func() bool { _, ok := b.tokens.Caller(bob); return ok })
	bobs, _, ok := exchanged(b.logins, code)
	if !ok {
		t.Fatal("the code is not known elsewhere")
	}
	owners, _, ok := exchanged(c.logins, codeFor(t, a.logins, a.tokens.Owner()))
	if !ok {
		t.Fatal("the owner's code is not known elsewhere")
	}
	vouched := begin(t, b.logins, harness.Caller{Name: "ada@provider", User: "ada", Role: harness.Viewer})
	for _, s := range []*sharing{a, b, c} {
		for secret, want := range map[string]string{bobs: "bob", owners: "owner@a", vouched: "ada@provider"} {
			waits(t, "the login of "+want, func() bool { c, ok := s.browser(secret); return ok && c.Name == want && c.Login != "" })
		}
	}
	text, err := depot.Fetch(t.Context(), "access/logins", "text")
	if err != nil {
		t.Fatal(err)
	}
	kept := make([]byte, 20_000)
	n, _ := text.Read(kept)
	for _, secret := range []string{bobs, owners, vouched, code} {
		if n == 0 || strings.Contains(string(kept), secret) {
			t.Error("what is kept can be used")
		}
	}
	// Logged out of one is logged out of all, and what is open there is closed.
	who, _ := a.browser(vouched)
	out, err := http.NewRequestWithContext(t.Context(), "POST", "/logout", nil)
	if err != nil {
		t.Fatal(err)
	}
	out.AddCookie(&http.Cookie{Name: c.logins.CookieName(), Value: vouched})
	c.logins.End(out)
	a.hears(who.Login)
	if _, ok := a.browser(vouched); ok {
		t.Error("logged in after logging out elsewhere")
	}
	// The end of a token is that of its logins.
	his, _ := a.browser(bobs)
	if err := gateway.RemoveSharedToken(t.Context(), depot, "bob"); err != nil {
		t.Fatal(err)
	}
	a.hears(his.Login)
	waits(t, "the end of his login", func() bool {
		_, here := b.browser(bobs)
		_, there := c.browser(bobs)
		return !here && !there
	})
	if _, ok := b.browser(owners); !ok {
		t.Error("the owner was logged out as well")
	}
}

// cut is a depot that can be out of reach.
type cut struct {
	gateway.Shared
	off atomic.Bool
}

func (c *cut) Place(ctx context.Context, name string, known uint64) (harness.Place, error) {
	if c.off.Load() {
		return harness.Place{}, harness.ErrStorage
	}
	return c.Shared.Place(ctx, name, known)
}

// TestALogoutWhileTheDatabaseIsAwayStands: the login does not come back when the
// database does, and the other servers hear of its end.
func TestALogoutWhileTheDatabaseIsAwayStands(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	way := &cut{Shared: depot}
	a, b := newSharing(t, way, "a", t.TempDir()), newSharing(t, depot, "bb", t.TempDir())
	known := begin(t, b.logins, harness.Caller{Name: "ada@provider", User: "ada", Role: harness.Viewer})
	waits(t, "the login", func() bool { _, ok := a.browser(known); return ok })
	who, _ := a.browser(known)
	way.off.Store(true)
	unheard := begin(t, b.logins, harness.Caller{Name: "bob@provider", User: "bob", Role: harness.Viewer})
	for _, secret := range []string{known, unheard} {
		out, err := http.NewRequestWithContext(t.Context(), "POST", "/logout", nil)
		if err != nil {
			t.Fatal(err)
		}
		out.AddCookie(&http.Cookie{Name: a.logins.CookieName(), Value: secret})
		a.logins.End(out)
	}
	a.hears(who.Login)
	third := begin(t, b.logins, harness.Caller{Name: "eve@provider", User: "eve", Role: harness.Viewer}) // a change that is adopted
	way.off.Store(false)
	waits(t, "what others did", func() bool { _, ok := a.browser(third); return ok })
	for _, secret := range []string{known, unheard} {
		if _, ok := a.browser(secret); ok {
			t.Error("a logout was undone")
		}
		waits(t, "the end there", func() bool { _, ok := b.browser(secret); return !ok })
	}
}

// TestACodeIsGoodOnceOnAllServers: of many that come with it at once one gets a
// login, and loses it again.
func TestACodeIsGoodOnceOnAllServers(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	all := []*sharing{newSharing(t, depot, "a", t.TempDir()), newSharing(t, depot, "b", t.TempDir())}
	code := codeFor(t, all[0].logins, all[0].tokens.Owner())
	won := make([]string, 6)
	var wg sync.WaitGroup
	for i := range won {
		wg.Go(func() { won[i], _, _ = exchanged(all[i%2].logins, code) })
	}
	wg.Wait()
	got := ""
	for _, secret := range won {
		if secret != "" && got != "" {
			t.Fatal("it was good twice")
		}
		got += secret
	}
	if _, ok := all[1].browser(got); got == "" || ok {
		t.Errorf("the login of a stolen code stands: %t", ok)
	}
}

// TestALoginByACodeEndsWithWhoAskedForIt, whichever server takes the code: a
// token of a provider, or a login, begets none that outlives it.
func TestALoginByACodeEndsWithWhoAskedForIt(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	a, b := newSharing(t, depot, "a", t.TempDir()), newSharing(t, depot, "bb", t.TempDir())
	soon := time.Now().Add(5 * time.Minute)
	owner := a.tokens.Owner()
	owner.Expires, owner.Login = soon, "x" // of a login that is almost over
	for _, c := range []harness.Caller{{Name: "ada@provider", User: "ada", Role: harness.Viewer, Expires: soon}, owner} {
		secret, _, err := b.logins.Exchange(codeFor(t, a.logins, c))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*sharing{a, b} {
			waits(t, "the login", func() bool { _, ok := s.browser(secret); return ok })
			if got, _ := s.browser(secret); !got.Expires.Equal(soon) {
				t.Errorf("%s is logged in until %s, want %s", c.Name, got.Expires, soon)
			}
		}
	}
}

// TestACodeIsNotGoodTwiceAroundAnOutage: while the others cannot be told it is
// good nowhere, and afterwards once.
func TestACodeIsNotGoodTwiceAroundAnOutage(t *testing.T) {
	t.Parallel()
	way := &cut{Shared: memory.NewDepot()}
	a := newSharing(t, way, "a", t.TempDir())
	code := codeFor(t, a.logins, a.tokens.Owner())
	way.off.Store(true)
	if _, _, err := a.logins.Exchange(code); !errors.Is(err, harness.ErrUnavailable) {
		t.Errorf("meanwhile: %v", err)
	}
	if _, err := a.logins.Code(a.tokens.Owner()); !errors.Is(err, harness.ErrUnavailable) {
		t.Errorf("a new one: %v", err)
	}
	way.off.Store(false)
	if _, _, ok := exchanged(a.logins, code); !ok {
		t.Error("not good afterwards")
	}
	if _, _, ok := exchanged(a.logins, code); ok {
		t.Error("good twice")
	}
}
