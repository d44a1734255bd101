package harness

import (
	"context"
	"fmt"
	"time"
)

// CallerRole is what a caller may do, in one word. ([Role] is who says a
// message.)
type CallerRole string

// The roles, each with what the one before may do and more: look at one's own
// sessions; make them and speak to them; decide what their tools may do; do all
// of that for everybody.
const (
	Viewer   CallerRole = "viewer"
	Operator CallerRole = "operator"
	Approver CallerRole = "approver"
	Admin    CallerRole = "admin"
)

// CallerRoles lists every role, for tables that must cover them.
func CallerRoles() []CallerRole { return []CallerRole{Viewer, Operator, Approver, Admin} }

// CallerScope narrows what a caller's role lets it do, and never adds to it: a
// list with commas of verbs, sessions and directories, which package gateway
// reads. Empty, it narrows nothing. ([Scope] is how far a decision goes.)
type CallerScope string

// Caller is who asks, as the server has found out: never as a request says of
// itself.
type Caller struct {
	Name    string     // the credential: a token's name, a subject; for logs and audits
	User    string     // whose sessions are the caller's own
	Role    CallerRole // what it may do with them
	Scope   CallerScope
	Login   string    // which login of a browser it is; empty: none
	Expires time.Time // when the caller is nobody again; zero: never
	Life    *Life     `json:"-"` // ends if the caller is nobody again before that; nil: it is not
}

// Check refuses a caller that nobody could have granted, with [ErrInvalid]: one
// of an unknown role, or one without a user that is no admin.
func (c Caller) Check() error {
	switch c.Role {
	case Viewer, Operator, Approver:
		return CheckID("user of the caller", c.User)
	case Admin:
		if c.User == "" {
			return nil
		}
		return CheckID("user of the caller", c.User)
	}
	return fmt.Errorf("role %q: not one of viewer, operator, approver, admin: %w", c.Role, ErrInvalid)
}

// Actor is the caller's name in events: who did it.
func (c Caller) Actor() string {
	if c.Name == "" || c.Name == c.User {
		return c.User
	}
	if c.User == "" {
		return c.Name
	}
	return c.User + " (" + c.Name + ")"
}

type callerKey struct{}

// WithCaller is ctx on behalf of c.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return WithSharedCaller(ctx, &c)
}

// WithSharedCaller is WithCaller for many contexts of one caller, which does not
// change any more: it is not copied.
func WithSharedCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf is on whose behalf ctx is, if anybody's.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(*Caller)
	if !ok {
		return Caller{}, false
	}
	return *c, true
}

// AsServer is ctx on behalf of the server itself, for what it does for all its
// callers together and shows to nobody who has not been asked for.
func AsServer(ctx context.Context) context.Context {
	return WithCaller(ctx, Caller{Name: "server", Role: Admin})
}
