package gateway

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"harness"
)

// sessions is what the gate stands before.
type sessions interface {
	Create(ctx context.Context, n harness.NewSession) (harness.SessionID, error)
	Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error)
	Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error]
	List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error]
	At(ctx context.Context, id harness.SessionID, seq harness.Seq) (*harness.State, error)
	Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error]
	Watch(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error]
	WatchAwake(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error]
	OnWake(f func(harness.SessionID))
	OnShow(f func(harness.SessionID, []harness.Event))
	OnSend(f func(harness.SessionID, []harness.Event))
	Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error]
	Revoke(ctx context.Context, id harness.RuleID) error
}

// remover is a server that can forget a session.
type remover interface {
	Remove(ctx context.Context, id harness.SessionID) error
}

// Gate is the verbs of a server, for callers: every verb asks on whose behalf
// its context is ([harness.CallerOf]) and whether the table lets it. Without a
// caller the answer is ErrUnauthenticated; to one whose role does not allow it,
// ErrForbidden, whatever it named; to one that names a session of another user,
// ErrNotFound, as if there were none; to a user that wants more than its
// [Quotas], ErrTooMany or ErrQuota. It keeps nothing but the owners of sessions
// that were asked for lately, and how much users have of the server.
type Gate struct {
	k      sessions
	owners *owners
	ledger *Ledger
	roots  *Roots
	quotas Quotas

	census   *census
	commands *meter
	sockets  holds
	streams  holds
	lines    holds
}

// Options are the gate's settings. The zero value works.
type Options struct {
	// Audit has every decision that the table marks, and every refusal.
	Audit *Ledger
	// Roots are where new sessions may work that say where; those of callers
	// that may act for others may work anywhere. Default: everywhere.
	Roots *Roots
	// Quotas bound each user that is no admin.
	Quotas Quotas
	// Shared says that sessions are made and removed by other processes, too: then
	// nothing is remembered of whose they are.
	Shared bool
}

// New makes a gate before k. Sessions are made and removed through the gate
// only, or [Gate.Forget] is told.
func New(k sessions, opts *Options) *Gate {
	g := &Gate{k: k, owners: newOwners()}
	if opts != nil {
		g.ledger, g.roots, g.quotas, g.owners.none = opts.Audit, opts.Roots, opts.Quotas, opts.Shared
	}
	g.quotas = g.quotas.withDefaults()
	g.census = newCensus(g.quotas.Sessions, g.quotas.Stored, g.count)
	g.commands = newMeter(g.quotas.CommandBurst, g.quotas.CommandEvery)
	return g
}

// Allow reports whether the caller of ctx may do something, to a session if one
// is named, with the error that the verb itself would give. A server that shows
// one session to many asks it before it lets another one look.
func (g *Gate) Allow(ctx context.Context, a Action, id harness.SessionID) error {
	_, err := g.enter(ctx, a, a, id)
	return err
}

// Did takes down what the caller of ctx has done beside the verbs, or failed to.
func (g *Gate) Did(ctx context.Context, a Action, detail string, err error) {
	c, _ := harness.CallerOf(ctx)
	g.ledger.put(ctx, Record{Caller: c, Action: a, Detail: detail, Err: err})
}

// MayWatch is Allow for watching.
func (g *Gate) MayWatch(ctx context.Context, id harness.SessionID) error {
	return g.Allow(ctx, Watch, id)
}

// MayBegin is MayWatch for a session that need not be there yet: the user's
// default one, or one that the first command makes. To a caller whose scope
// names sessions or directories it must be there.
func (g *Gate) MayBegin(ctx context.Context, id harness.SessionID) error {
	if c, ok := harness.CallerOf(ctx); ok && !placed(c.Scope) {
		id = ""
	}
	return g.MayWatch(ctx, id)
}

// enter is the caller of ctx, if it may do both to a session, or to none.
func (g *Gate) enter(ctx context.Context, a, also Action, id harness.SessionID) (harness.Caller, error) {
	c, refusal, err := g.admit(ctx, a, also, id)
	if refusal != nil {
		g.ledger.put(ctx, *refusal)
	}
	return c, err
}

// admit is enter, with what is to be taken down if the caller is refused.
func (g *Gate) admit(ctx context.Context, a, also Action, id harness.SessionID) (harness.Caller, *Record, error) {
	c, err := callerFor(ctx, a)
	if err == nil && !May(c, also) {
		a, err = also, forbidden(c, also)
	}
	foreign := false
	if err == nil && id != "" {
		var own bool
		own, err = g.owns(ctx, c, id)
		if err == nil && !own {
			foreign, err = true, absent(id)
		}
	}
	if foreign || err != nil && refuses(err) {
		return c, &Record{Caller: c, Action: a, Session: id, Foreign: foreign, Err: err}, err
	}
	return c, nil, err
}

// refuses reports whether an error says that somebody may not.
func refuses(err error) bool {
	switch harness.AsError(err) {
	case harness.ErrUnauthenticated, harness.ErrForbidden:
		return true
	}
	return false
}

// User is the user that the caller of ctx works for: its own, or if it may, the
// one that a request names. Of any other there is nothing to be found.
func (g *Gate) User(ctx context.Context, named string) (string, error) {
	c, ok := harness.CallerOf(ctx)
	switch {
	case !ok:
		return "", harness.ErrUnauthenticated
	case named == "" || named == c.User:
		return c.User, nil
	case !Allows(c.Role, ForOther):
		g.ledger.put(ctx, Record{Caller: c, Action: ForOther, Detail: "user " + named, Foreign: true, Err: harness.ErrNotFound})
		return "", harness.ErrNotFound
	}
	return named, nil
}

// Forget says that a session may have been removed or made by other ways than
// the gate.
func (g *Gate) Forget(id harness.SessionID) {
	g.owners.forget(id)
	g.census.again()
}

// callerFor is the caller of ctx, if it is somebody whose role allows a.
func callerFor(ctx context.Context, a Action) (harness.Caller, error) {
	c, ok := harness.CallerOf(ctx)
	switch {
	case !ok:
		return c, harness.ErrUnauthenticated
	case !c.Expires.IsZero() && !time.Now().Before(c.Expires):
		return c, fmt.Errorf("the credential has expired: %w", harness.ErrUnauthenticated)
	case c.Life.Over(): // since the request began
		return c, fmt.Errorf("the credential was revoked, or logged out: %w", harness.ErrUnauthenticated)
	case !May(c, a):
		return c, forbidden(c, a)
	case c.User == "" && !Allows(c.Role, ForOther):
		return c, fmt.Errorf("the credential is nobody's: %w", harness.ErrForbidden)
	}
	return c, nil
}

func forbidden(c harness.Caller, a Action) error {
	if Allows(c.Role, a) {
		return fmt.Errorf("%s is not in the credential's scope: %w", a, harness.ErrForbidden)
	}
	return fmt.Errorf("%s is not for the role %s: %w", a, c.Role, harness.ErrForbidden)
}

// owns reports whether the session is one that the caller may know of: its own,
// or any if it may act for others, as far as its scope goes. One that does not
// exist is ErrNotFound.
func (g *Gate) owns(ctx context.Context, c harness.Caller, id harness.SessionID) (bool, error) {
	if everywhere(c) {
		return true, nil
	}
	whose, epoch, ok := g.owners.get(id)
	if !ok || whose.dir == "" && scopeHome(c.Scope) != "" {
		sum, err := g.look(ctx, id)
		if err != nil {
			return false, err
		}
		whose = home{sum.User, sum.Directory}
		g.owners.learn(id, whose, epoch)
	}
	return reaches(c, id, whose.user, whose.dir), nil
}

func (g *Gate) look(ctx context.Context, id harness.SessionID) (harness.Summary, error) {
	for sum, err := range g.k.List(ctx, harness.Filter{Session: id, Limit: 1}) {
		return sum, err
	}
	return harness.Summary{}, absent(id)
}

func absent(id harness.SessionID) error {
	return fmt.Errorf("session %s: %w", id, harness.ErrNotFound)
}

// seen forgets the owner of a session that turns out to be gone, so that the
// next one of its name has its own.
func (g *Gate) seen(id harness.SessionID, err error) error {
	if err != nil && harness.AsError(err) == harness.ErrNotFound {
		g.owners.forget(id)
	}
	return err
}

// defaults begins the ids of default sessions and of no others: minted ids
// have no u.
const defaults = harness.SessionPrefix + "u"

// Create makes a session of the caller's user, or of the one that n names if
// the caller may act for others. A branch is made of what the caller may read; for
// one that may not [Trust] it trusts no more than its source does now.
// The default session of a user is nobody else's.
func (g *Gate) Create(ctx context.Context, n harness.NewSession) (harness.SessionID, error) {
	also, from := Create, harness.SessionID("")
	if trusts(n.Config) {
		also = Trust
	}
	if n.From != nil {
		from = n.From.Session
	}
	c, refusal, err := g.admit(ctx, Create, also, from)
	if refusal != nil {
		refusal.Detail = trusted(n.Config)
		g.ledger.put(ctx, *refusal)
	}
	if err == nil && n.User != "" && n.User != c.User {
		_, err = g.enter(ctx, ForOther, ForOther, "")
	}
	if err != nil {
		return "", err
	}
	if err := g.place(ctx, c, &n); err != nil {
		return "", err
	}
	inherits := n.From != nil && n.User == "" && Allows(c.Role, ForOther) // the branch of an admin stays its owner's
	if n.User == "" && !inherits {
		n.User = c.User
	}
	n.Actor = c.Actor()
	n.Wary = n.From != nil && !May(c, Trust) // else an old branch point would give back what an approver took
	if strings.HasPrefix(string(n.ID), defaults) && n.ID != harness.DefaultSession(n.User) {
		err := fmt.Errorf("session id %s is kept for a user's default session: %w", n.ID, harness.ErrForbidden)
		g.ledger.put(ctx, Record{Caller: c, Action: Create, Session: n.ID, Err: err})
		return "", err
	}
	id, err := g.make(ctx, c, n)
	if err != nil {
		if n.From != nil {
			g.seen(n.From.Session, err)
		}
		if harness.AsError(err) == harness.ErrExists {
			if own, _ := g.owns(ctx, c, n.ID); !own {
				err = fmt.Errorf("session id %s is not free: %w", n.ID, harness.ErrForbidden)
				g.ledger.put(ctx, Record{Caller: c, Action: Create, Session: n.ID, Foreign: true, Err: err})
			}
		}
		return "", err
	}
	if inherits {
		g.owners.forget(id)
	} else {
		g.owners.set(id, home{n.User, n.Directory})
	}
	if also == Trust {
		g.ledger.put(ctx, Record{Caller: c, Action: Trust, Session: id, Detail: trusted(n.Config)})
	} else if n.From != nil && !n.Wary {
		g.trustsAgain(ctx, c, id, from)
	}
	return id, nil
}

// trustsAgain takes down that somebody who may has made a branch with a mode that
// asks less than its source does now. A source that cannot be read asks always.
func (g *Gate) trustsAgain(ctx context.Context, c harness.Caller, id, source harness.SessionID) {
	var is, now harness.Mode = harness.Normal, harness.Normal
	if st, err := g.k.At(ctx, id, 0); err == nil {
		is = st.Config.PermissionMode
	}
	if st, err := g.k.At(ctx, source, 0); err == nil {
		now = st.Config.PermissionMode
	}
	if is.Stricter(now) != is {
		g.ledger.put(ctx, Record{Caller: c, Action: Trust, Session: id, Detail: string(is) + " of a branch"})
	}
}

// place decides where a new session works, within the caller's scope and the
// server's roots. A branch works where its parent does.
func (g *Gate) place(ctx context.Context, c harness.Caller, n *harness.NewSession) (err error) {
	if n.Directory == "" && n.From == nil {
		n.Directory = scopeHome(c.Scope)
	}
	detail := "directory"
	switch {
	case !holdsSession(c.Scope, n.ID):
		detail, err = "session", fmt.Errorf("a session of this id is not in the credential's scope: %w", harness.ErrForbidden)
	case n.Directory != "":
		n.Directory, err = g.Directory(c, n.Directory)
	}
	if err != nil {
		g.ledger.put(ctx, Record{Caller: c, Action: Create, Session: n.ID, Detail: detail, Err: err})
	}
	return err
}

// Directory is where path leads, if a caller may have something done there.
func (g *Gate) Directory(c harness.Caller, path string) (string, error) {
	dir := path
	if g.roots != nil {
		var err error
		if dir, err = g.roots.Directory(path, Allows(c.Role, ForOther)); err != nil {
			return "", err
		}
	}
	if !holdsDir(c.Scope, dir) {
		return "", fmt.Errorf("the directory is not in the credential's scope: %w", harness.ErrForbidden)
	}
	return dir, nil
}

// Do carries out a command in the caller's name.
func (g *Gate) Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error) {
	first, also, ok := actionsOf(cmd)
	if !ok {
		return harness.Receipt{}, fmt.Errorf("command %T: %w", cmd, harness.ErrUnsupported)
	}
	c, refusal, err := g.admit(ctx, first, also, id)
	if refusal != nil {
		refusal.Detail = record(c, also, id, cmd, nil).Detail
		g.ledger.put(ctx, *refusal)
	}
	if err != nil {
		return harness.Receipt{}, err
	}
	if a, ok := cmd.(harness.Answer); ok && a.Decision.Scope == harness.Always && !holdsSession(c.Scope, "") {
		err := fmt.Errorf("always is about more than the sessions of the credential's scope: %w", harness.ErrForbidden)
		g.ledger.put(ctx, record(c, also, id, cmd, err))
		return harness.Receipt{}, err
	}
	if err := g.pace(ctx, c, first, id); err != nil {
		return harness.Receipt{}, err
	}
	if err := g.grows(ctx, c, first, id); err != nil {
		return harness.Receipt{}, err
	}
	r, err := g.k.Do(ctx, id, by(cmd, c))
	if table[also].audited {
		g.ledger.put(ctx, record(c, also, id, cmd, err))
	}
	return r, g.seen(id, err)
}

// At is the state of a session at a position.
func (g *Gate) At(ctx context.Context, id harness.SessionID, seq harness.Seq) (*harness.State, error) {
	c, err := g.enter(ctx, State, State, id)
	if err != nil {
		return nil, err
	}
	st, err := g.k.At(ctx, id, seq)
	if err == nil && !reaches(c, id, st.User, st.Directory) { // removed and made again meanwhile
		st, err = nil, absent(id)
	}
	return st, g.seen(id, err)
}

// Remove forgets a session, if the server can.
func (g *Gate) Remove(ctx context.Context, id harness.SessionID) error {
	c, err := g.enter(ctx, Remove, Remove, id)
	if err != nil {
		return err
	}
	if err := g.pace(ctx, c, Remove, id); err != nil {
		return err
	}
	k, ok := g.k.(remover)
	if !ok {
		return fmt.Errorf("this server keeps sessions for ever: %w", harness.ErrUnsupported)
	}
	user := c.User
	if Allows(c.Role, ForOther) {
		sum, _ := g.look(ctx, id) // one that is not there is nobody's
		user = sum.User
	}
	err = k.Remove(ctx, id)
	if err == nil {
		g.census.change(user, -1)
	}
	g.owners.forget(id)
	g.ledger.put(ctx, Record{Caller: c, Action: Remove, Session: id, Err: err})
	return err
}

// Attend is the server's own: somebody watches a session, on this process.
func (g *Gate) Attend(id harness.SessionID) (leave func()) {
	if k, ok := g.k.(interface {
		Attend(harness.SessionID) (leave func())
	}); ok {
		return k.Attend(id)
	}
	return nil
}

// OnWake is the server's own; what it tells is for nobody but the server.
func (g *Gate) OnWake(f func(harness.SessionID)) { g.k.OnWake(f) }

// OnShow is the server's own; what it tells is for nobody but the server.
func (g *Gate) OnShow(f func(harness.SessionID, []harness.Event)) { g.k.OnShow(f) }

// OnSend is as OnShow.
func (g *Gate) OnSend(f func(harness.SessionID, []harness.Event)) { g.k.OnSend(f) }
