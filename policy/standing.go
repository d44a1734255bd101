package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"harness"
)

func digest(input json.RawMessage) string { return harness.Digest(input) }

// The kinds of patterns that an approval leaves behind. A pattern of another
// kind covers nothing; none at all, as earlier versions left it, covers every
// call of the tool.
const (
	theCommands = "command:" // these commands, a line each, with these words
	theCall     = "exact:"   // a call with these very arguments, by their digest
	theInside   = "inside:"  // files inside the workspace
	thePaths    = "path:"    // these files
	theHosts    = "host:"    // these hosts
)

// Bind is what an approval that stands is about: the commands, files or hosts
// of the call that was approved, where they can be told, else that very call.
func Bind(directory, tool string, input json.RawMessage) string {
	c := look(directory, tool, input)
	switch {
	case c.shell:
		lines, ok := c.plain()
		if !ok {
			return theCall + c.digest()
		}
		return theCommands + strings.Join(lines, "\n")
	case c.odd != "", len(c.paths) > 0 && len(c.hosts) > 0:
		return theCall + c.digest()
	case len(c.paths) > 0:
		return bindPaths(c)
	case len(c.hosts) > 0:
		var names []string
		for _, h := range c.hosts {
			if !h.sure {
				return theCall + c.digest()
			}
			names = append(names, h.spelled())
		}
		return theHosts + strings.Join(names, "\n")
	}
	return ""
}

func (h host) spelled() string {
	if h.port != "" {
		return h.name + ":" + h.port
	}
	return h.name
}

func bindPaths(c *call) string {
	inside := true
	var names []string
	for _, f := range c.paths {
		if !f.sure || f.up || strings.Contains(f.abs, "\n") {
			return theCall + c.digest()
		}
		inside = inside && f.inside
		names = append(names, f.abs)
	}
	if inside {
		return theInside
	}
	return thePaths + strings.Join(names, "\n")
}

// plain are the commands of a line, if all of them are known word for word and
// there is nothing else to them.
func (c *call) plain() (lines []string, ok bool) {
	for i := range c.commands {
		line, ok := c.commands[i].plain()
		if !ok {
			return nil, false
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return slices.Compact(lines), len(lines) > 0
}

func (c *command) plain() (string, bool) {
	if c.opaque != "" || c.hidden || len(c.env) > 0 || len(c.files) > 0 || len(c.argv) == 0 || slices.ContainsFunc(c.argv, unsure) {
		return "", false
	}
	words := make([]string, len(c.argv))
	for i, w := range c.argv {
		words[i] = quoted(w.text)
	}
	return strings.Join(words, " "), true
}

// allowance is what an earlier approval has left behind.
type allowance struct {
	pattern, path, reason string
}

// standing are the allowances about a tool.
func standing(grants []harness.Grant, rules []harness.Rule, tool string) (list []allowance) {
	for _, g := range grants {
		if g.Tool == tool {
			list = append(list, allowance{g.Pattern, "grant." + string(g.Scope), "allowed by an earlier approval"})
		}
	}
	for _, r := range rules {
		if r.Tool == tool {
			list = append(list, allowance{r.Pattern, "rule." + string(r.ID), "always allowed in this directory"})
		}
	}
	return list
}

// covering finds the allowance that answers for parts of a call, the first if
// it takes several. One about the tool as a whole counts only where broad.
func covering(list []allowance, call *call, parts []int, broad bool) (Verdict, bool) {
	var by *allowance
	for _, i := range parts {
		at := slices.IndexFunc(list, func(a allowance) bool {
			return (a.pattern != "" || broad) && a.covers(call, call.part(i))
		})
		if at < 0 {
			return Verdict{}, false
		}
		if by == nil {
			by = &list[at]
		}
	}
	if by == nil {
		return Verdict{}, false
	}
	return Verdict{Allow, by.path, by.reason, ByApproval, 0}, true
}

// covers reports whether the allowance is about a part of a call.
func (a allowance) covers(call *call, part *command) bool {
	kind, text, _ := strings.Cut(a.pattern, ":")
	switch kind + ":" {
	case ":":
		return true
	case theCall:
		return text == call.digest()
	case theCommands:
		if part == nil {
			return false
		}
		line, ok := part.plain()
		return ok && slices.Contains(strings.Split(text, "\n"), line)
	case theInside:
		return part == nil && call.odd == "" && len(call.hosts) == 0 && len(call.paths) > 0 &&
			!slices.ContainsFunc(call.paths, func(f place) bool { return !f.sure || f.up || !f.inside })
	case thePaths:
		names := strings.Split(text, "\n")
		return part == nil && call.odd == "" && len(call.hosts) == 0 && len(call.paths) > 0 &&
			!slices.ContainsFunc(call.paths, func(f place) bool { return !f.sure || f.up || !slices.Contains(names, f.abs) })
	case theHosts:
		names := strings.Split(text, "\n")
		return part == nil && call.odd == "" && len(call.paths) == 0 && len(call.hosts) > 0 &&
			!slices.ContainsFunc(call.hosts, func(h host) bool { return !h.sure || !slices.Contains(names, h.spelled()) })
	}
	return false
}

// Covering finds the standing rule that answers a question about a call, unless
// the policy has the last word there. If it takes several, it is the first.
func Covering(p *Policy, c Context, rules []harness.Rule, tool string, input json.RawMessage) (harness.Rule, bool) {
	v, ok := answered(p, c, standing(nil, rules, tool), tool, input)
	if !ok {
		return harness.Rule{}, false
	}
	i := slices.IndexFunc(rules, func(r harness.Rule) bool { return "rule."+string(r.ID) == v.Rule })
	return rules[i], true
}

// Covered reports whether grants and standing rules together answer a question
// about a call, unless the policy has the last word there.
func Covered(p *Policy, c Context, grants []harness.Grant, rules []harness.Rule, tool string, input json.RawMessage) bool {
	_, ok := answered(p, c, standing(grants, rules, tool), tool, input)
	return ok
}

func answered(p *Policy, c Context, list []allowance, tool string, input json.RawMessage) (Verdict, bool) {
	if len(list) == 0 {
		return Verdict{}, false
	}
	call := look(c.Directory, tool, input)
	r := p.bearing(c, harness.ToolUse{Tool: tool, Input: input}).rule(call)
	if r.outcome == Deny || r.firm {
		return Verdict{}, false
	}
	need := append(r.asked, r.left...)
	if len(need) == 0 { // the file has come to allow it
		for i := range call.parts() {
			need = append(need, i)
		}
	}
	return covering(list, call, need, r.outcome != Ask)
}
