package policy

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"harness"
)

// Policy is what a file says, read once. Nothing changes it.
type Policy struct {
	rules      []rule
	unattended unattended
	trust      []pathPattern
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
	paths    []pathPattern
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
		(r.paths == nil || slices.ContainsFunc(r.paths, func(p pathPattern) bool { return p.covers(f) }))
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
		got = min(got, worst(r.paths, func(p pathPattern) match { return p.touches(f) }))
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

// ruling is what the rules of a file, and those of the workspace, say about a
// call.
type ruling struct {
	outcome Outcome // of all parts together; "" if no rule speaks about some, and none stops any
	rule    *rule
	reason  string
	firm    bool  // no earlier approval answers it
	asked   []int // parts that a rule asks about
	left    []int // parts that no rule speaks about
}

func (r ruling) verdict() Verdict {
	return Verdict{r.outcome, r.rule.path, r.reason, r.rule.source, 0}
}

// severity orders what parts of a call get.
func severity(o Outcome, firm bool) int {
	switch {
	case o == Deny:
		return 4
	case o == Ask && firm:
		return 3
	case o == Ask:
		return 2
	case o == "":
		return 1
	}
	return 0
}

// speaks reports whether any rule is about such calls.
func (p *Policy) speaks(c Context, use harness.ToolUse) bool {
	return p != nil && (slices.ContainsFunc(p.rules, func(r rule) bool { return r.about(c, use) }) || p.strict.speaks(c, use))
}

// rule finds what the rules say about a call: the strictest of what they say
// about its parts.
func (p *Policy) rule(c Context, use harness.ToolUse, call *call) ruling {
	if p == nil {
		return ruling{left: call.parts()}
	}
	var all ruling
	for n, i := range call.parts() {
		part := call.part(i)
		one := p.first(c, use, call, part)
		if p.strict != nil {
			if own := p.strict.first(c, use, call, part); own.outcome != Allow && severity(own.outcome, own.firm) > severity(one.outcome, one.firm) && own.outcome != "" {
				one = own
			}
		}
		switch {
		case one.outcome == Ask:
			all.asked = append(all.asked, i)
		case one.outcome == "":
			all.left = append(all.left, i)
		}
		if n == 0 || severity(one.outcome, one.firm) > severity(all.outcome, all.firm) {
			all.outcome, all.rule, all.reason, all.firm = one.outcome, one.rule, one.reason, one.firm
		}
	}
	return all
}

// first is what the first rule that speaks about a part says.
func (p *Policy) first(c Context, use harness.ToolUse, call *call, part *command) ruling {
	why := ""
	for i := range p.rules {
		r := &p.rules[i]
		if !r.about(c, use) {
			continue
		}
		if r.outcome == Allow {
			if r.allows(call, part) {
				return ruling{outcome: Allow, rule: r, reason: cmp.Or(r.reason, "allowed by the rule "+r.path)}
			}
			if part != nil && r.commands != nil {
				why = part.opaque
			}
			continue
		}
		switch m := r.stops(call, part); m {
		case yes:
			return ruling{outcome: r.outcome, rule: r, reason: because(r, part), firm: r.firm}
		case maybe:
			if r.surely {
				continue
			}
			return ruling{outcome: Ask, rule: r, reason: "nobody can tell whether the rule " + r.path + " is about it", firm: r.firm || r.outcome == Deny}
		}
	}
	var out ruling
	if len(p.rules) == 0 {
		return out
	}
	if part != nil && len(part.argv) > 0 {
		out.reason = "no rule is about " + part.String()
		if why != "" {
			out.reason = "no rule can allow " + part.String() + ": " + why
		}
	} else if why != "" {
		out.reason = "no rule can allow it: " + why
	}
	return out
}

func because(r *rule, part *command) string {
	if r.reason != "" {
		return r.reason
	}
	words := map[Outcome]string{Ask: "asked about by the rule ", Deny: "denied by the rule "}[r.outcome] + r.path
	if part != nil && len(part.argv) > 0 {
		words += ": " + part.String()
	}
	return words
}

// parts are the places of the commands of a line; of another call, one for all
// of it.
func (c *call) parts() []int {
	n := max(1, len(c.commands))
	parts := make([]int, n)
	for i := range parts {
		parts[i] = i
	}
	return parts
}

func (c *call) part(i int) *command {
	if i < len(c.commands) {
		return &c.commands[i]
	}
	return nil
}

// unclear says that a call may name anything, if nobody can tell what it names.
func (c *call) unclear(part *command) match {
	if part == nil && c.odd != "" {
		return maybe
	}
	return no
}

// filesOf are the files that a part of a call names. A command's are those of
// its redirections, and words that may be files.
func (c *call) filesOf(part *command) []place {
	if part == nil {
		return c.paths
	}
	files := slices.Clone(part.files)
	for i, w := range part.argv {
		if i == 0 || !w.sure && !w.glob {
			continue
		}
		names := []string{w.text}
		if _, value, ok := strings.Cut(w.text, "="); ok {
			names = append(names, value)
		}
		for _, name := range names {
			if f := c.place(name); f.sure {
				files = append(files, f)
			}
		}
	}
	return files
}

// hostsOf are the hosts that a part of a call names: of a command, addresses
// among its words.
func (c *call) hostsOf(part *command) []host {
	if part == nil {
		return c.hosts
	}
	var hosts []host
	for _, w := range part.argv {
		if i := strings.Index(w.text, "://"); i > 0 {
			start := strings.LastIndexAny(w.text[:i], "= '\"") + 1
			hosts = append(hosts, hostOf(w.text[start:]))
		}
	}
	return hosts
}
