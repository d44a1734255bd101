package gateway_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/gateway"
)

// scoped is ctx of the same caller with a scope.
func scoped(ctx context.Context, scope string) context.Context {
	c, _ := harness.CallerOf(ctx)
	c.Scope = harness.CallerScope(scope)
	return harness.WithCaller(ctx, c)
}

// TestTheVerbsOfScopesAreWritten: every action is in one verb, but for
// for_other, which is in each, and a scope adds nothing to a role.
func TestTheVerbsOfScopesAreWritten(t *testing.T) {
	t.Parallel()
	if got := gateway.ScopeVerbs(); len(got) != len(verbsOf) {
		t.Errorf("the verbs are %q", got)
	}
	for _, role := range harness.CallerRoles() {
		for _, a := range gateway.Actions() {
			for _, scope := range scopes {
				c := harness.Caller{User: "alice", Role: role, Scope: harness.CallerScope(scope)}
				if got, want := gateway.May(c, a), gateway.Allows(role, a) && left(scope, a); got != want {
					t.Errorf("%s with %q may %s: %t, want %t", role, scope, a, got, want)
				}
			}
		}
	}
	for _, a := range gateway.Actions() {
		n := 0
		for _, list := range verbsOf {
			if slices.Contains(list, a.String()) {
				n++
			}
		}
		want := 1
		switch a {
		case gateway.ForOther:
			want = len(verbsOf)
		case gateway.Grant:
			want = 0
		}
		if n != want {
			t.Errorf("%s is in %d verbs", a, n)
		}
	}
}

func TestAScopeIsReadInOneWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{nil, ""},
		{[]string{"submit", "read", "read"}, "read,submit"},
		{[]string{"session:ses_2", "session:a:b.c", "dir:/srv/a b"}, "dir:/srv/a b,session:a:b.c,session:ses_2"},
		{[]string{"dir:/"}, "dir:/"},
	} {
		if got, err := gateway.ParseScope(c.parts...); err != nil || string(got) != c.want {
			t.Errorf("%q is %q, %v, want %q", c.parts, got, err, c.want)
		}
	}
	for _, part := range []string{"", "Read", "write", "admin", "*", "read,submit", "session:", "session:../x", "session:a b", "dir:", "dir:x", "dir:/a/../b", "dir:/a/", "dir:/a,b", "dir:/a\x00", "user:ada"} {
		if got, err := gateway.ParseScope(part); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("%q is %q, %v", part, got, err)
		}
	}
	if _, err := gateway.ParseScope(slices.Repeat([]string{"read"}, gateway.MaxScope+1)...); !errors.Is(err, harness.ErrInvalid) {
		t.Error(err)
	}
}

func TestAScopeShowsItsOwnSessionsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	make := func(id, user, dir string) {
		if _, err := w.k.Create(t.Context(), harness.NewSession{ID: harness.SessionID(id), User: user, Directory: dir}); err != nil {
			t.Fatal(err)
		}
	}
	make("a1", "alice", "/site")
	make("a2", "alice", "/site/blog")
	make("a3", "alice", "/sitemap")
	make("b1", "bob", "/site")
	for _, c := range []struct {
		role   harness.CallerRole
		scope  string
		filter harness.Filter
		want   string
	}{
		{harness.Viewer, "", harness.Filter{}, "a1 a2 a3"},
		{harness.Viewer, "dir:/site", harness.Filter{}, "a1 a2"},
		{harness.Viewer, "dir:/site", harness.Filter{Session: "a3"}, ""},
		{harness.Viewer, "dir:/site", harness.Filter{User: "bob"}, ""},
		{harness.Viewer, "dir:/site", harness.Filter{Limit: 1}, "a2"},
		{harness.Viewer, "session:a1", harness.Filter{Limit: 1}, "a1"}, // which is not the newest
		{harness.Viewer, "session:a1,session:b1", harness.Filter{}, "a1"},
		{harness.Viewer, "session:a3,dir:/site", harness.Filter{}, ""},
		{harness.Admin, "dir:/site", harness.Filter{}, "a1 a2 b1"},
		{harness.Admin, "dir:/site", harness.Filter{User: "bob"}, "b1"},
		{harness.Admin, "read", harness.Filter{}, "a1 a2 a3 b1"},
		{harness.Admin, "session:b1", harness.Filter{}, "b1"},
	} {
		var got []string
		for sum, err := range w.g.List(scoped(as(t, "alice", c.role), c.scope), c.filter) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(sum.Session))
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s with %q asks for %+v: %q, want %q", c.role, c.scope, c.filter, s, c.want)
		}
	}
}

// TestASessionIsMadeWhereItsScopeIs: without a directory in the first one of the
// scope, with one only below it, and under ids that the scope names.
func TestASessionIsMadeWhereItsScopeIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		scope    string
		new      harness.NewSession
		want     string
		wantsErr error
	}{
		{"dir:/site", harness.NewSession{}, "/site", nil},
		{"dir:/blog,dir:/site", harness.NewSession{}, "/blog", nil},
		{"dir:/site", harness.NewSession{Directory: "/site/a"}, "/site/a", nil},
		{"dir:/site", harness.NewSession{Directory: "/sitemap"}, "", harness.ErrForbidden},
		{"dir:/site", harness.NewSession{Directory: "/"}, "", harness.ErrForbidden},
		{"session:project", harness.NewSession{ID: "project"}, "/w", nil},
		{"session:project", harness.NewSession{ID: "other"}, "", harness.ErrForbidden},
		{"session:project", harness.NewSession{}, "", harness.ErrForbidden},
		{"read", harness.NewSession{}, "", harness.ErrForbidden},
		{"submit", harness.NewSession{}, "/w", nil},
		{"submit", harness.NewSession{Config: mode(harness.FullAuto)}, "", harness.ErrForbidden},
	} {
		w.drained()
		id, err := w.g.Create(scoped(as(t, "alice", harness.Approver), c.scope), c.new)
		if !errors.Is(err, c.wantsErr) {
			t.Errorf("%q and %+v: %v", c.scope, c.new, err)
		}
		if err != nil {
			if lines := w.drained(); len(lines) != 1 {
				t.Errorf("%q and %+v: audited %v", c.scope, c.new, lines)
			}
			continue
		}
		if st, err := w.k.At(t.Context(), id, 0); err != nil || st.Directory != c.want || st.User != "alice" {
			t.Errorf("%q and %+v: %v in %v", c.scope, c.new, err, st)
		}
	}
}

// TestADefaultSessionIsNotInEveryScope: who looks at some sessions only does not
// get the user's own home with them, whether it is there or not.
func TestADefaultSessionIsNotInEveryScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := harness.DefaultSession("alice")
	for _, there := range []bool{false, true} {
		if there {
			if _, err := w.k.Create(t.Context(), harness.NewSession{ID: home, User: "alice"}); err != nil {
				t.Fatal(err)
			}
		}
		for scope, want := range map[string]error{
			"": nil, "read": nil, "submit": harness.ErrForbidden, "session:x": harness.ErrNotFound, "dir:/elsewhere": harness.ErrNotFound,
			"session:" + string(home): map[bool]error{false: harness.ErrNotFound, true: nil}[there],
			"dir:/w":                  map[bool]error{false: harness.ErrNotFound, true: nil}[there],
		} {
			if err := w.g.MayBegin(scoped(as(t, "alice", harness.Operator), scope), home); !errors.Is(err, want) {
				t.Errorf("there: %t, %q: %v, want %v", there, scope, err, want)
			}
		}
	}
	if err := w.g.MayBegin(t.Context(), home); !errors.Is(err, harness.ErrUnauthenticated) {
		t.Error(err)
	}
}

// TestAlwaysIsNotForSomeSessions: the rule that it leaves would be about more
// than the scope.
func TestAlwaysIsNotForSomeSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	approver := as(t, "alice", harness.Approver)
	id := w.create("alice")
	a := w.ask(approver, id)
	answer := func(scope string, s harness.Scope) error {
		_, err := w.g.Do(scoped(approver, scope), id, harness.Answer{Approval: a.ID, Decision: harness.Decision{Verdict: harness.Allow, Scope: s}})
		return err
	}
	w.drained()
	if err := answer("session:"+string(id), harness.Always); !errors.Is(err, harness.ErrForbidden) {
		t.Errorf("always: %v", err)
	}
	if lines := w.drained(); len(lines) != 1 || lines[0].Detail != "allow always "+string(a.ID) {
		t.Errorf("audited %+v", lines)
	}
	if err := answer("read,session:"+string(id), harness.Once); !errors.Is(err, harness.ErrForbidden) {
		t.Errorf("read only: %v", err)
	}
	if err := answer("approve,session:"+string(id), harness.Once); err != nil {
		t.Errorf("once: %v", err)
	}
}

func TestATokenFileOfTheLastVersionLoads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const old = `{
  "tokens": [
    {
      "name": "laptop",
      "user": "ada",
      "role": "operator",
      "sha256": "0000000000000000000000000000000000000000000000000000000000000000",
      "created": "2026-11-01T10:00:00Z"
    }
  ]
}
`
	path := filepath.Join(dir, "tokens.json")
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := gateway.NamedTokens(dir)
	if err != nil || len(all) != 1 || all[0].Name != "laptop" || all[0].Scope != nil {
		t.Fatalf("%+v, %v", all, err)
	}
	// What has no scope is written as it was: the last version reads it, too. It
	// does not see what has one, which it would take for more.
	token, err := gateway.AddToken(dir, gateway.Token{Name: "bot", User: "ada", Role: harness.Operator, Scope: []string{"submit", "read"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(b), strings.TrimSuffix(old, "\n}\n")+",\n  \"scoped\": [") {
		t.Errorf("%s, %v", b, err)
	}
	k := openTokens(t, dir, nil)
	c, ok := k.Caller(token)
	if want := (harness.Caller{Name: "bot", User: "ada", Role: harness.Operator, Scope: "read,submit", Life: c.Life}); !ok || c != want {
		t.Errorf("%+v, %t", c, ok)
	}
	if _, err := gateway.AddToken(dir, gateway.Token{Name: "bot", User: "bob", Role: harness.Viewer}); !errors.Is(err, harness.ErrExists) {
		t.Errorf("a second of that name: %v", err)
	}
	if _, err := gateway.AddToken(dir, gateway.Token{Name: "wrong", User: "bob", Role: harness.Viewer, Scope: []string{"write"}}); !errors.Is(err, harness.ErrInvalid) {
		t.Errorf("a scope that is none: %v", err)
	}
	if err := gateway.RemoveToken(dir, "bot"); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != old {
		t.Errorf("%s, %v", b, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(old, `"tokens"`, `"scoped"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := gateway.NamedTokens(dir); !errors.Is(err, harness.ErrCorrupt) {
		t.Errorf("a scoped token without a scope: %+v, %v", all, err)
	}
}
