package policy

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"harness"
)

// Policy is what a file says, read once. Nothing changes it.
type Policy struct {
	rules      []rule
	unattended unattended
	trust      []*pathPattern
	strict     *Policy // the workspace's own rules, which can only refuse and ask
}

// unattended is how sessions are treated that nobody sits at.
type unattended struct {
	refuse   bool          // deny what would be asked about
	deadline time.Duration // of questions
	path     string
}

// rule is one rule of a file. A condition without values always holds.
type rule struct {
	outcome  Outcome
	path     string // its file, with its name or number
	reason   string
	source   Source
	tools    []nameGlob
	commands []commandPattern
	env      []nameGlob // variables that an allowed command may set
	paths    []*pathPattern
	inside   *bool // of the workspace, or outside
	hosts    []hostPattern
	engines  []nameGlob
	users    []nameGlob
	modes    []harness.Mode
	kinds    []harness.Kind
	changes  bool   // only calls that may change something
	firm     bool   // no earlier approval answers it
	surely   bool   // only where it is certain that it is meant
	hint     string // arguments without this text need no look
}

// match says whether a condition holds.
type match int

const (
	no match = iota
	maybe
	yes
)

// about reports whether a rule speaks about such calls at all.
func (r *rule) about(c Context, use harness.ToolUse) bool {
	if r.changes && use.Access == harness.AccessRead || r.hint != "" && !bytes.Contains(use.Input, []byte(r.hint)) && !bytes.Contains(use.Input, []byte(`\u`)) {
		return false
	}
	fits := func(globs []nameGlob, name string) bool {
		return len(globs) == 0 || slices.ContainsFunc(globs, func(g nameGlob) bool {
			return g.fits(name) || r.outcome != Allow && nameGlob(strings.ToLower(string(g))).fits(strings.ToLower(name))
		})
	}
	return fits(r.tools, use.Tool) && fits(r.engines, c.Engine) && fits(r.users, c.User) &&
		(len(r.modes) == 0 || slices.Contains(r.modes, c.Mode)) && (len(r.kinds) == 0 || slices.Contains(r.kinds, c.Kind))
}

// allows reports whether an allow surely has a part of a call. Part is a
// command of a line, nil if the call is no line.
func (r *rule) allows(call *call, part *command) bool {
	if r.commands == nil && r.paths == nil && r.hosts == nil && r.inside == nil {
		return true // whatever its arguments are
	}
	if part == nil {
		return r.commands == nil && call.odd == "" &&
			((r.paths == nil && r.inside == nil) || len(call.paths) > 0 && !slices.ContainsFunc(call.paths, func(f place) bool { return !r.has(f) })) &&
			(r.hosts == nil || len(call.hosts) > 0 && !slices.ContainsFunc(call.hosts, func(h host) bool { return !r.reaches(h) }))
	}
	if r.commands == nil || r.hosts != nil || part.opaque != "" || part.hidden {
		return false
	}
	if slices.ContainsFunc(part.files, func(f place) bool { return r.paths == nil && r.inside == nil || !r.has(f) }) ||
		slices.ContainsFunc(part.env, func(v string) bool { return !slices.ContainsFunc(r.env, func(g nameGlob) bool { return g.fits(v) }) }) {
		return false
	}
	if len(part.argv) == 0 {
		return len(part.env)+len(part.files) > 0
	}
	return slices.ContainsFunc(r.commands, func(p commandPattern) bool { return p.covers(part.argv) })
}

// has reports whether the rule's conditions on files surely hold for one.
func (r *rule) has(f place) bool {
	return (r.inside == nil || f.sure && !f.up && f.inside == *r.inside) &&
		(r.paths == nil || slices.ContainsFunc(r.paths, func(p *pathPattern) bool { return p.covers(f) }))
}

func (r *rule) reaches(h host) bool {
	return slices.ContainsFunc(r.hosts, func(p hostPattern) bool { return p.covers(h) })
}

// stops says whether a deny or an ask has a part of a call. It has it if one of
// the things that the part names is meant.
func (r *rule) stops(call *call, part *command) match {
	got := yes
	if r.commands != nil {
		if part == nil {
			got = call.unclear(nil)
		} else {
			got = part.like(r.commands)
		}
	}
	if r.paths != nil || r.inside != nil {
		got = min(got, max(call.unclear(part), worst(call.filesOf(part), r.touches)))
	}
	if r.hosts != nil {
		got = min(got, max(call.unclear(part), worst(call.hostsOf(part), func(h host) match {
			return worst(r.hosts, func(p hostPattern) match { return p.touches(h) })
		})))
	}
	return got
}

func (r *rule) touches(f place) match {
	got := yes
	if r.inside != nil {
		switch {
		case !f.sure || f.up:
			got = maybe
		case f.inside != *r.inside:
			return no
		}
	}
	if r.paths != nil {
		got = min(got, worst(r.paths, func(p *pathPattern) match { return p.touches(f) }))
	}
	return got
}

// worst is the surest match of any.
func worst[T any](list []T, of func(T) match) match {
	got := no
	for _, v := range list {
		got = max(got, of(v))
	}
	return got
}

// like says whether a command is, or may be, one of those that are meant.
func (c *command) like(patterns []commandPattern) match {
	got := worst(patterns, func(p commandPattern) match { return p.touches(c.argv) })
	if got == no && c.hidden {
		got = maybe
	}
	return got
}
