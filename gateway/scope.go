package gateway

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"harness"
)

// verb is a word of a scope: actions that one grants together.
type verb string

// The verbs.
const (
	verbRead    verb = "read"    // look
	verbSubmit  verb = "submit"  // make sessions, speak to them, stop them
	verbApprove verb = "approve" // decide what their tools may do, and take such decisions back
	verbManage  verb = "manage"  // settings, files as they were, removing, importing
	verbInspect verb = "inspect" // the server as a whole
	verbAny     verb = ""        // with whichever of them
	verbNone    verb = "-"       // with none: what it makes could do more than the scope
)

// ScopeVerbs lists the verbs of scopes, for help and tables.
func ScopeVerbs() []string {
	return []string{string(verbRead), string(verbSubmit), string(verbApprove), string(verbManage), string(verbInspect)}
}

// Prefixes of what a scope names beside verbs.
const (
	scopeSession = "session:"
	scopeDir     = "dir:"
)

// MaxScope bounds the parts of a scope, which is looked through at each verb.
const MaxScope = 64

// ParseScope is a scope from its parts: verbs, session:ID and dir:PATH, in any
// order. Of verbs, of sessions and of directories a caller has those that are
// named, and all of a kind that is not named at all. What is none of these is
// ErrInvalid.
func ParseScope(parts ...string) (harness.CallerScope, error) {
	if len(parts) > MaxScope {
		return "", fmt.Errorf("scope: more than %d parts: %w", MaxScope, harness.ErrInvalid)
	}
	for _, part := range parts {
		if err := checkScope(part); err != nil {
			return "", fmt.Errorf("scope: %w", err)
		}
	}
	all := slices.Sorted(slices.Values(parts))
	return harness.CallerScope(strings.Join(slices.Compact(all), ",")), nil
}

func checkScope(part string) error {
	if id, ok := strings.CutPrefix(part, scopeSession); ok {
		return harness.CheckID("session", id)
	}
	if dir, ok := strings.CutPrefix(part, scopeDir); ok {
		switch {
		case !filepath.IsAbs(dir) || filepath.Clean(dir) != dir:
			return fmt.Errorf("directory %q: not an absolute path in its shortest form: %w", dir, harness.ErrInvalid)
		case strings.ContainsAny(dir, ",\x00"):
			return fmt.Errorf("directory %q: no comma may be in it: %w", dir, harness.ErrInvalid)
		}
		return nil
	}
	if !slices.Contains(ScopeVerbs(), part) {
		return fmt.Errorf("%q: neither one of %s, nor session:ID or dir:PATH: %w", part, strings.Join(ScopeVerbs(), ", "), harness.ErrInvalid)
	}
	return nil
}

// scopeParts are what ParseScope was given, in order.
func scopeParts(s harness.CallerScope) []string {
	if s == "" {
		return nil
	}
	return strings.Split(string(s), ",")
}

// May reports whether a caller may do something at all: its role allows it, and
// its scope leaves it. What is about the server as a whole is for nobody whose
// scope names sessions or directories.
func May(c harness.Caller, a Action) bool {
	return Allows(c.Role, a) && leaves(c.Scope, a)
}

func leaves(s harness.CallerScope, a Action) bool {
	if s == "" {
		return true
	}
	if (a == Import || a == Inspect || a == Notify || a == Grant) && placed(s) {
		return false
	}
	named, found := false, false
	for part := range strings.SplitSeq(string(s), ",") {
		if strings.HasPrefix(part, scopeSession) || strings.HasPrefix(part, scopeDir) {
			continue
		}
		named = true
		found = found || part == string(table[a].verb)
	}
	return !named || found || table[a].verb == verbAny
}

// placed reports whether a scope names sessions or directories.
func placed(s harness.CallerScope) bool {
	for part := range strings.SplitSeq(string(s), ",") {
		if strings.HasPrefix(part, scopeSession) || strings.HasPrefix(part, scopeDir) {
			return true
		}
	}
	return false
}

// everywhere reports whether every session is a caller's to reach.
func everywhere(c harness.Caller) bool { return Allows(c.Role, ForOther) && !placed(c.Scope) }

// reaches reports whether a session of this user, in this directory, is one of
// those that a caller may know of.
func reaches(c harness.Caller, id harness.SessionID, user, dir string) bool {
	return (user == c.User || Allows(c.Role, ForOther)) && holdsSession(c.Scope, id) && holdsDir(c.Scope, dir)
}

// holdsSession reports whether a scope names a session, or none.
func holdsSession(s harness.CallerScope, id harness.SessionID) bool {
	return among(s, scopeSession, func(named string) bool { return named == string(id) })
}

// holdsDir reports whether a directory is in one that a scope names, or it
// names none. Paths are compared as they are written: a session keeps the one
// that it was made with.
func holdsDir(s harness.CallerScope, dir string) bool {
	return among(s, scopeDir, func(named string) bool { return within(dir, named) })
}

// among reports whether one of a scope's parts of a kind is right, or there are
// none.
func among(s harness.CallerScope, kind string, right func(string) bool) bool {
	if s == "" {
		return true
	}
	none := true
	for part := range strings.SplitSeq(string(s), ",") {
		if name, ok := strings.CutPrefix(part, kind); ok {
			if right(name) {
				return true
			}
			none = false
		}
	}
	return none
}

// within reports whether a path is root or lies below it.
func within(path, root string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(root, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// scopeHome is the first directory of a scope: where its sessions work that say
// nothing. Empty: it names none.
func scopeHome(s harness.CallerScope) string {
	for part := range strings.SplitSeq(string(s), ",") {
		if dir, ok := strings.CutPrefix(part, scopeDir); ok {
			return dir
		}
	}
	return ""
}
