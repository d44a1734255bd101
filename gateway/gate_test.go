package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/engine/script"
	"harness/gateway"
	"harness/kernel"
	"harness/store/memory"
)

// world is a real kernel behind a gate, with the sessions of two users.
type world struct {
	t      testing.TB
	k      *kernel.Kernel
	g      *gateway.Gate
	mu     sync.Mutex // guards audits
	audits []gateway.Record
}

func newWorld(t testing.TB, quotas ...gateway.Quotas) *world {
	t.Helper()
	s, err := script.Parse("ask bash c1 {\"command\":\"ls\"} => files\nsay after")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, k: kernel.New(memory.New(), map[string]harness.Engine{"e": script.New(s, nil)}, &kernel.Options{Engine: "e", Directory: "/w"})}
	t.Cleanup(func() { w.k.Close() })
	opts := &gateway.Options{Audit: gateway.NewLedger(func(r gateway.Record) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.audits = append(w.audits, r)
	})}
	if len(quotas) > 0 {
		opts.Quotas = quotas[0]
	}
	w.g = gateway.New(w.k, opts)
	return w
}

// drained is what was audited since.
func (w *world) drained() []gateway.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.audits = nil }()
	return w.audits
}

func as(t testing.TB, user string, role harness.CallerRole) context.Context {
	return harness.WithCaller(t.Context(), harness.Caller{Name: user + "'s token", User: user, Role: role})
}

func (w *world) create(user string) harness.SessionID {
	w.t.Helper()
	id, err := w.k.Create(w.t.Context(), harness.NewSession{User: user})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func mode(m harness.Mode) harness.ConfigPatch { return harness.ConfigPatch{PermissionMode: &m} }

func health() harness.ConfigPatch {
	return harness.ConfigPatch{Health: &harness.HealthPolicy{TotalTokens: new(int64(1000))}}
}

// deed is an action as a client does it.
type deed struct {
	name string
	acts []gateway.Action // all that it needs
	do   func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error
}

func command(name string, cmd harness.Command, acts ...gateway.Action) deed {
	return deed{name, acts, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		_, err := g.Do(ctx, id, cmd)
		return err
	}}
}

// deeds are all of them, on a session.
var deeds = []deed{
	command("submit", harness.Submit{Parts: harness.TextPart("x"), Source: harness.FromSubmit}, gateway.Submit),
	command("steer", harness.Steer{Parts: harness.TextPart("x")}, gateway.Steer),
	command("cancel", harness.Cancel{}, gateway.Cancel),
	command("answer", harness.Answer{Call: "c9", Decision: harness.Decision{Verdict: harness.Allow}}, gateway.Answer),
	command("configure", harness.Configure{Title: new("t")}, gateway.Configure),
	command("configure normal", harness.Configure{Patch: mode(harness.Normal)}, gateway.Configure),
	command("configure accept_edits", harness.Configure{Patch: mode(harness.AcceptEdits)}, gateway.Configure, gateway.Trust),
	command("configure full_auto", harness.Configure{Patch: mode(harness.FullAuto)}, gateway.Configure, gateway.Trust),
	command("configure health", harness.Configure{Patch: health()}, gateway.Configure, gateway.Trust),
	command("rewind", harness.Rewind{Message: "itm_1"}, gateway.Rewind),
	command("pause", harness.Pause{}, gateway.Pause),
	command("resume", harness.Resume{}, gateway.Resume),
	{"read", []gateway.Action{gateway.Read}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		for _, err := range g.Read(ctx, id, 0) {
			return err
		}
		return nil
	}},
	{"messages", []gateway.Action{gateway.Read}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		for _, err := range g.Messages(ctx, id, 0, 0) {
			return err
		}
		return nil
	}},
	{"at", []gateway.Action{gateway.State}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		_, err := g.At(ctx, id, 0)
		return err
	}},
	{"watch", []gateway.Action{gateway.Watch}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		for _, err := range g.Watch(ctx, id, 0) {
			return err
		}
		return nil
	}},
	{"watch awake", []gateway.Action{gateway.Watch}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		for _, err := range g.WatchAwake(ctx, id, 0) {
			return err
		}
		return nil
	}},
	{"branch", []gateway.Action{gateway.Create}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		_, err := g.Create(ctx, harness.NewSession{From: &harness.Branch{Session: id}})
		return err
	}},
	{"branch full_auto", []gateway.Action{gateway.Create, gateway.Trust}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		_, err := g.Create(ctx, harness.NewSession{From: &harness.Branch{Session: id}, Config: mode(harness.FullAuto)})
		return err
	}},
	{"branch health", []gateway.Action{gateway.Create, gateway.Trust}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		_, err := g.Create(ctx, harness.NewSession{From: &harness.Branch{Session: id}, Config: health()})
		return err
	}},
	{"allow export", []gateway.Action{gateway.Read}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		return g.Allow(ctx, gateway.Read, id)
	}},
	{"remove", []gateway.Action{gateway.Remove}, func(ctx context.Context, g *gateway.Gate, id harness.SessionID) error {
		return g.Remove(ctx, id)
	}},
}

// TestTheTableIsObeyed does every deed in every role with every kind of scope,
// to a session of one's own, to one elsewhere, of another user, and to none.
func TestTheTableIsObeyed(t *testing.T) {
	t.Parallel()
	for _, role := range harness.CallerRoles() {
		for _, d := range deeds {
			for _, scope := range scopes {
				t.Run(string(role)+"/"+d.name+"/"+strings.ReplaceAll(scope, "/", "|"), func(t *testing.T) {
					t.Parallel()
					obey(t, role, scope, d)
				})
			}
		}
	}
}

// scopes are every verb, alone and with another, and places with and without;
// {own} is the id of the session that is one's own.
var scopes = []string{
	"", "read", "submit", "approve", "manage", "inspect", "read,submit", "read,approve,manage",
	"session:{own}", "session:ses_missing", "session:elsewhere", "session:{own},session:elsewhere", "read,session:{own}", "approve,session:{own}",
	"dir:/w", "dir:/", "dir:/w/below", "dir:/elsewhere", "dir:/w,dir:/elsewhere", "submit,dir:/w", "dir:/w,session:{own}", "dir:/elsewhere,session:{own}", "manage,dir:/w,session:elsewhere",
}

// verbsOf states a second time what the verbs of a scope leave.
var verbsOf = map[string][]string{
	"read":    {"list", "read", "state", "watch", "rules", "for_other"},
	"submit":  {"create", "submit", "steer", "cancel", "pause", "resume", "schedule", "for_other"},
	"approve": {"answer", "trust", "revoke", "for_other"},
	"manage":  {"configure", "rewind", "remove", "notify", "import", "for_other"},
	"inspect": {"inspect", "for_other"},
}

// left reports whether a scope leaves an action, in the words above.
func left(scope string, a gateway.Action) bool {
	named, found := false, false
	for part := range strings.SplitSeq(scope, ",") {
		if list, ok := verbsOf[part]; ok {
			named, found = true, found || slices.Contains(list, a.String())
		}
	}
	if strings.Contains(scope, ":") && (a == gateway.Import || a == gateway.Inspect || a == gateway.Notify || a == gateway.Grant) {
		return false
	}
	return !named || found
}

// placed reports whether a scope leaves a session in a directory.
func placed(scope string, id harness.SessionID, dir string) bool {
	kinds := map[string]bool{}
	for part := range strings.SplitSeq(scope, ",") {
		if kind, name, ok := strings.Cut(part, ":"); ok {
			right := map[string]bool{"session": name == string(id), "dir": name == "/" || name == dir}[kind]
			kinds[kind] = kinds[kind] || right
		}
	}
	for _, right := range kinds {
		if !right {
			return false
		}
	}
	return true
}

func obey(t *testing.T, role harness.CallerRole, scope string, d deed) {
	w := newWorld(t)
	own, foreign, nobodys := w.create("alice"), w.create("bob"), w.create("")
	if _, err := w.k.Create(t.Context(), harness.NewSession{ID: "elsewhere", User: "alice", Directory: "/elsewhere"}); err != nil {
		t.Fatal(err)
	}
	scope = strings.ReplaceAll(scope, "{own}", string(own))
	ctx := scoped(as(t, "alice", role), scope)
	allowed := !slices.ContainsFunc(d.acts, func(a gateway.Action) bool { return !gateway.Allows(role, a) || !left(scope, a) })
	type aim struct {
		whose, dir string
		id         harness.SessionID
	}
	reaches := func(a aim) bool {
		return (a.whose == "own" || a.whose == "elsewhere" || role == harness.Admin) && placed(scope, a.id, a.dir)
	}
	aims := []aim{{"foreign", "/w", foreign}, {"nobody's", "/w", nobodys}, {"missing", "/w", "ses_missing"}, {"elsewhere", "/elsewhere", "elsewhere"}, {"own", "/w", own}}
	slices.SortStableFunc(aims, func(a, b aim) int { // what is done may go on, so it is done last
		switch at, bt := reaches(a), reaches(b); {
		case at == bt:
			return 0
		case at:
			return 1
		}
		return -1
	})
	for _, c := range aims {
		whose, id := c.whose, c.id
		w.drained()
		before := w.snapshot()
		err := d.do(ctx, w.g, id)
		code := harness.AsError(err)
		reachable := reaches(c)
		mayMake := slices.Contains(d.acts, gateway.Create) && strings.Contains(scope, "session:") // an id that its scope cannot have
		switch {
		case err != nil && errors.Is(err, harness.ErrUnauthenticated):
			t.Errorf("%s session: %v", whose, err)
		case !allowed:
			if code != harness.ErrForbidden {
				t.Errorf("%s session: got %v, want forbidden", whose, err)
			}
		case !reachable:
			if code != harness.ErrNotFound {
				t.Errorf("%s session: got %v, want not found", whose, err)
			}
		case mayMake && whose != "missing":
			if code != harness.ErrForbidden {
				t.Errorf("%s session: got %v, want forbidden", whose, err)
			}
		case whose != "missing" && err != nil && (code == harness.ErrForbidden || code == harness.ErrNotFound && d.name != "answer"):
			t.Errorf("%s session: got %v, want it done", whose, err)
		}
		if allowed && reachable && !mayMake {
			continue
		}
		if after := w.snapshot(); after != before {
			t.Errorf("%s session: refused, but changed from %s to %s", whose, before, after)
		}
		lines := w.drained()
		if want := !allowed || whose != "missing"; want != (len(lines) == 1) && !(whose == "missing" && mayMake) {
			t.Errorf("%s session: %d audit lines %v", whose, len(lines), lines)
		}
	}
}

// snapshot is everything that a refused deed must leave alone.
func (w *world) snapshot() string {
	w.t.Helper()
	var all []string
	for sum, err := range w.k.List(w.t.Context(), harness.Filter{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s@%d", sum.Session, sum.Seq))
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}

// TestTheTableIsWritten states the table a second time, as people read it.
func TestTheTableIsWritten(t *testing.T) {
	t.Parallel()
	all := map[harness.CallerRole][]string{
		harness.Viewer:   {"list", "read", "state", "watch", "rules"},
		harness.Operator: {"create", "submit", "steer", "cancel", "configure", "rewind", "pause", "resume", "remove", "notify", "schedule"},
		harness.Approver: {"answer", "trust", "revoke"},
		harness.Admin:    {"for_other", "import", "inspect", "grant"},
	}
	var may []string
	for _, role := range harness.CallerRoles() {
		may = append(may, all[role]...)
		for _, a := range gateway.Actions() {
			if got, want := gateway.Allows(role, a), slices.Contains(may, a.String()); got != want {
				t.Errorf("%s may %s: %t, want %t", role, a, got, want)
			}
		}
	}
	if len(may) != len(gateway.Actions()) {
		t.Errorf("%d actions here, %d in the table", len(may), len(gateway.Actions()))
	}
	for _, a := range gateway.Actions() {
		if gateway.Allows("root", a) || gateway.Allows("", a) {
			t.Errorf("an unknown role may %s", a)
		}
	}
}

// TestEveryCommandHasADeed reads the vocabulary: a new command must come with
// its row.
func TestEveryCommandHasADeed(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../command.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "command" {
			n++
			name := fn.Recv.List[0].Type.(*ast.Ident).Name
			if !slices.ContainsFunc(gateway.Actions(), func(a gateway.Action) bool { return equalFold(a.String(), name) }) {
				t.Errorf("no action for the command %s", name)
			}
		}
	}
	if n < 8 {
		t.Errorf("found %d commands", n)
	}
}

func equalFold(a, b string) bool {
	return len(a) == len(b) && (a[1:] == b[1:]) && a[0]|0x20 == b[0]|0x20
}

func TestWithoutACallerNothingIsReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("alice")
	for _, d := range deeds {
		if err := d.do(t.Context(), w.g, id); !errors.Is(err, harness.ErrUnauthenticated) {
			t.Errorf("%s: %v", d.name, err)
		}
	}
	for _, err := range w.g.List(t.Context(), harness.Filter{}) {
		if !errors.Is(err, harness.ErrUnauthenticated) {
			t.Errorf("list: %v", err)
		}
	}
	for _, err := range w.g.Rules(t.Context(), "") {
		if !errors.Is(err, harness.ErrUnauthenticated) {
			t.Errorf("rules: %v", err)
		}
	}
	if err := w.g.Revoke(t.Context(), "rul_1"); !errors.Is(err, harness.ErrUnauthenticated) {
		t.Errorf("revoke: %v", err)
	}
	if _, err := w.g.Create(t.Context(), harness.NewSession{}); !errors.Is(err, harness.ErrUnauthenticated) {
		t.Errorf("create: %v", err)
	}
	if _, err := w.g.User(t.Context(), ""); !errors.Is(err, harness.ErrUnauthenticated) {
		t.Errorf("user: %v", err)
	}
}

func TestACallerThatIsNobodysReachesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("") // sessions from before there were users
	if err := w.g.Allow(as(t, "", harness.Approver), gateway.Read, id); !errors.Is(err, harness.ErrForbidden) {
		t.Error(err)
	}
	if err := w.g.Allow(as(t, "", harness.Admin), gateway.Read, id); err != nil {
		t.Error(err)
	}
}

func TestAnExpiredCallerIsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.create("alice")
		ctx := harness.WithCaller(t.Context(), harness.Caller{User: "alice", Role: harness.Viewer, Expires: time.Now().Add(time.Minute)})
		began := time.Now()
		var last error
		for _, err := range w.g.Watch(ctx, id, 0) {
			last = err
		}
		if !errors.Is(last, harness.ErrUnauthenticated) || time.Since(began) != time.Minute {
			t.Errorf("a watch of a credential for a minute ended after %s with %v", time.Since(began), last)
		}
		if _, err := w.g.At(ctx, id, 0); !errors.Is(err, harness.ErrUnauthenticated) {
			t.Error(err)
		}
	})
}

func TestListsShowOnlyOnesOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, theirs := w.create("alice"), w.create("bob")
	w.create("")
	for _, c := range []struct {
		role   harness.CallerRole
		filter harness.Filter
		want   int
	}{
		{harness.Viewer, harness.Filter{}, 1},
		{harness.Approver, harness.Filter{}, 1},
		{harness.Approver, harness.Filter{User: "alice"}, 1},
		{harness.Approver, harness.Filter{User: "bob"}, 0},
		{harness.Approver, harness.Filter{Session: mine}, 1},
		{harness.Approver, harness.Filter{Session: theirs}, 0},
		{harness.Admin, harness.Filter{}, 3},
		{harness.Admin, harness.Filter{User: "bob"}, 1},
	} {
		n := 0
		for sum, err := range w.g.List(as(t, "alice", c.role), c.filter) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; c.role != harness.Admin && sum.Session != mine {
				t.Errorf("%s with %+v sees %s", c.role, c.filter, sum.Session)
			}
		}
		if n != c.want {
			t.Errorf("%s with %+v sees %d sessions, want %d", c.role, c.filter, n, c.want)
		}
	}
}

func TestSessionsBelongToWhoMadeThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := func(id harness.SessionID) string {
		st, err := w.k.At(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		return st.User
	}
	alice, admin := as(t, "alice", harness.Operator), as(t, "", harness.Admin)
	id, err := w.g.Create(alice, harness.NewSession{})
	if err != nil || owner(id) != "alice" {
		t.Errorf("alice's session: %v", err)
	}
	if _, err := w.g.Create(alice, harness.NewSession{User: "bob"}); !errors.Is(err, harness.ErrForbidden) {
		t.Errorf("alice made a session for bob: %v", err)
	}
	if _, err := w.g.Create(alice, harness.NewSession{ID: harness.DefaultSession("bob")}); !errors.Is(err, harness.ErrForbidden) {
		t.Errorf("alice took bob's default session: %v", err)
	}
	if _, err := w.g.Create(admin, harness.NewSession{ID: harness.DefaultSession("bob")}); !errors.Is(err, harness.ErrForbidden) {
		t.Errorf("an admin made bob's default session nobody's: %v", err)
	}
	if id, err := w.g.Create(alice, harness.NewSession{ID: harness.DefaultSession("alice")}); err != nil || owner(id) != "alice" {
		t.Errorf("alice's default session: %v", err)
	}
	if id, err := w.g.Create(admin, harness.NewSession{ID: harness.DefaultSession("bob"), User: "bob"}); err != nil || owner(id) != "bob" {
		t.Errorf("bob's default session, by an admin: %v", err)
	}
	if b, err := w.g.Create(admin, harness.NewSession{From: &harness.Branch{Session: id}}); err != nil || owner(b) != "alice" {
		t.Errorf("an admin's branch of alice's session: %v", err)
	} else if err := w.g.Allow(alice, gateway.Read, b); err != nil {
		t.Errorf("alice and the admin's branch of her session: %v", err)
	}
	if _, err := w.g.Create(as(t, "bob", harness.Operator), harness.NewSession{ID: id}); !errors.Is(err, harness.ErrForbidden) {
		t.Errorf("bob made a session under alice's id: %v", err)
	}
	if _, err := w.g.Create(alice, harness.NewSession{ID: id}); !errors.Is(err, harness.ErrExists) {
		t.Errorf("alice made a session twice: %v", err)
	}
}

func TestAUserIsResolvedByTheCallerNotByTheQuery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		role        harness.CallerRole
		named, want string
		err         error
	}{
		{harness.Viewer, "", "alice", nil},
		{harness.Viewer, "alice", "alice", nil},
		{harness.Approver, "bob", "", harness.ErrNotFound},
		{harness.Admin, "", "alice", nil},
		{harness.Admin, "bob", "bob", nil},
	} {
		if got, err := w.g.User(as(t, "alice", c.role), c.named); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s names %q: %q, %v", c.role, c.named, got, err)
		}
	}
}

// TestARemovedSessionLeavesNoOwner is about names that are used again: who owned
// the first session of a name does not see the second.
func TestARemovedSessionLeavesNoOwner(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"through the gate", "behind its back", "and told"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			alice, bob := as(t, "alice", harness.Operator), as(t, "bob", harness.Operator)
			const id = harness.SessionID("project")
			if _, err := w.g.Create(alice, harness.NewSession{ID: id}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.g.At(alice, id, 0); err != nil {
				t.Fatal(err)
			}
			remove := map[string]func() error{
				"through the gate": func() error { return w.g.Remove(alice, id) },
				"behind its back": func() error {
					err := w.k.Remove(t.Context(), id)
					if _, err := w.g.At(alice, id, 0); !errors.Is(err, harness.ErrNotFound) {
						t.Errorf("a removed session is there: %v", err)
					}
					return err
				},
				"and told": func() error { defer w.g.Forget(id); return w.k.Remove(t.Context(), id) },
			}[how]
			if err := remove(); err != nil {
				t.Fatal(err)
			}
			if err := w.g.Allow(alice, gateway.Read, id); !errors.Is(err, harness.ErrNotFound) {
				t.Errorf("alice and the removed session: %v", err)
			}
			if _, err := w.k.Create(t.Context(), harness.NewSession{ID: id, User: "bob"}); err != nil {
				t.Fatal(err)
			}
			if err := w.g.Allow(alice, gateway.Read, id); !errors.Is(err, harness.ErrNotFound) {
				t.Errorf("alice and bob's session of the same name: %v", err)
			}
			if err := w.g.Allow(bob, gateway.Read, id); err != nil {
				t.Errorf("bob and his session: %v", err)
			}
		})
	}
}

// ask lets a session ask, and returns when the question is there.
func (w *world) ask(ctx context.Context, id harness.SessionID) harness.Approval {
	w.t.Helper()
	if _, err := w.g.Do(ctx, id, harness.Submit{Parts: harness.TextPart("go"), Source: harness.FromSubmit}); err != nil {
		w.t.Fatal(err)
	}
	for range w.k.Watch(ctx, id, 0) {
		st, err := w.k.At(ctx, id, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(st.Pending) > 0 {
			return st.Pending[0]
		}
	}
	w.t.Fatal("nothing was asked")
	return harness.Approval{}
}

func TestADecisionIsInTheCallersNameAndAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := as(t, "alice", harness.Approver)
	id := w.create("alice")
	a := w.ask(ctx, id)
	forged := harness.Decision{Verdict: harness.Allow, Scope: harness.Always, Actor: "bob", Source: harness.ByPolicy}
	if _, err := w.g.Do(ctx, id, harness.Answer{Approval: a.ID, Decision: forged}); err != nil {
		t.Fatal(err)
	}
	found := false
	for e, err := range w.k.Read(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := e.Payload.(*harness.ApprovalApplied); ok {
			found = true
			if p.Actor != "alice (alice's token)" || p.Source != harness.ByUser {
				t.Errorf("decided by %q, source %s", p.Actor, p.Source)
			}
		}
	}
	lines := w.drained()
	if !found || len(lines) != 1 || lines[0].Action != gateway.Answer || lines[0].Detail != "allow always "+string(a.ID) || lines[0].Session != id {
		t.Errorf("decided: %t, audited %+v", found, lines)
	}

	// The rule that it made is alice's to see and to revoke.
	rules := func(ctx context.Context) (all []harness.RuleID) {
		for r, err := range w.g.Rules(ctx, "") {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r.ID)
		}
		return all
	}
	mine := rules(ctx)
	if len(mine) != 1 || len(rules(as(t, "bob", harness.Approver))) != 0 || len(rules(as(t, "", harness.Admin))) != 1 {
		t.Fatalf("alice sees the rules %v", mine)
	}
	if err := w.g.Revoke(as(t, "bob", harness.Approver), mine[0]); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("bob revoked alice's rule: %v", err)
	}
	if err := w.g.Revoke(as(t, "alice", harness.Operator), mine[0]); !errors.Is(err, harness.ErrForbidden) {
		t.Errorf("an operator revoked a rule: %v", err)
	}
	if err := w.g.Revoke(ctx, mine[0]); err != nil || len(rules(ctx)) != 0 {
		t.Errorf("alice's revocation: %v", err)
	}
}

// TestLimitsOfHealthAreAuditedWithWhatTheyAre, when a session is made with them
// and when they change: a limit that is raised answers a question.
func TestLimitsOfHealthAreAuditedWithWhatTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := as(t, "alice", harness.Approver)
	id, err := w.g.Create(ctx, harness.NewSession{Config: health()})
	if err != nil {
		t.Fatal(err)
	}
	both := health()
	both.PermissionMode = new(harness.AcceptEdits)
	for _, patch := range []harness.ConfigPatch{health(), both} {
		if _, err := w.g.Do(ctx, id, harness.Configure{Patch: patch}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range w.drained() {
		got = append(got, r.Action.String()+" "+r.Detail)
	}
	limits := `health {"total_tokens":1000}`
	if want := []string{"trust " + limits, "trust " + limits, "trust accept_edits " + limits}; !slices.Equal(got, want) {
		t.Errorf("audited %q, want %q", got, want)
	}
}

// TestTwoUsersNeverMeet has many goroutines of two users hammer on each other's
// sessions while these come and go.
func TestTwoUsersNeverMeet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all sync.WaitGroup
	for n := range 4 {
		user := []string{"alice", "bob"}[n%2]
		all.Go(func() {
			ctx := as(t, user, harness.Operator)
			for i := range 200 {
				id := harness.SessionID(fmt.Sprintf("shared-%d", i%5))
				if _, err := w.g.Create(ctx, harness.NewSession{ID: id}); err != nil && !errors.Is(err, harness.ErrForbidden) && !errors.Is(err, harness.ErrExists) {
					t.Error(err)
				}
				if st, err := w.g.At(ctx, id, 0); err == nil && st.User != user {
					t.Errorf("%s sees a session of %s", user, st.User)
				}
				for up, err := range w.g.WatchAwake(ctx, id, 0) {
					if err == nil && up.State.User != user {
						t.Errorf("%s watches a session of %s", user, up.State.User)
					}
					break
				}
				if err := w.g.Remove(ctx, id); err != nil && !errors.Is(err, harness.ErrNotFound) && !errors.Is(err, harness.ErrBusy) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
