package policy

import (
	"cmp"
	"slices"

	"harness"
)

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
