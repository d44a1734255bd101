package policy

import "harness"

// ruling is what the rules of a file, and those of the workspace, say about a
// call.
type ruling struct {
	outcome Outcome // of all parts together; "" if no rule speaks about some, and none stops any
	rule    *rule
	firm    bool  // no earlier approval answers it
	asked   []int // parts that a rule asks about
	left    []int // parts that no rule speaks about

	// What reason is made of, if anybody wants it.
	ruled bool     // there are rules
	doubt bool     // nobody can tell whether the rule is about it
	part  *command // that the ruling is about
	why   string   // no rule can allow it
}

func (r *ruling) verdict() Verdict {
	return Verdict{r.outcome, r.rule.path, r.reason(), r.rule.source, 0}
}

// reason says why, for people.
func (r *ruling) reason() string {
	named := r.part != nil && len(r.part.argv) > 0
	switch {
	case r.doubt:
		return "nobody can tell whether the rule " + r.rule.path + " is about it"
	case r.rule != nil && r.rule.reason != "":
		return r.rule.reason
	case r.outcome == Allow:
		return "allowed by the rule " + r.rule.path
	case r.rule != nil && named:
		return stopped[r.outcome] + r.rule.path + ": " + r.part.String()
	case r.rule != nil:
		return stopped[r.outcome] + r.rule.path
	case !r.ruled:
		return ""
	case named && r.why != "":
		return "no rule can allow " + r.part.String() + ": " + r.why
	case named:
		return "no rule is about " + r.part.String()
	case r.why != "":
		return "no rule can allow it: " + r.why
	}
	return "no rule is about it"
}

var stopped = map[Outcome]string{Ask: "asked about by the rule ", Deny: "denied by the rule "}

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

// about are the rules that speak about such calls, in their order.
func (p *Policy) about(c Context, use harness.ToolUse) (list []*rule) {
	if p == nil {
		return nil
	}
	for i := range p.rules {
		if r := &p.rules[i]; r.about(c, use) {
			if list == nil {
				list = make([]*rule, 0, len(p.rules)-i)
			}
			list = append(list, r)
		}
	}
	return list
}

// bearing are the rules of a policy that speak about a call: its own, and those
// of the workspace.
type bearing struct{ rules, strict []*rule }

func (p *Policy) bearing(c Context, use harness.ToolUse) bearing {
	if p == nil {
		return bearing{}
	}
	return bearing{p.about(c, use), p.strict.about(c, use)}
}

// rule finds what the rules say about a call: the strictest of what they say
// about its parts.
func (b bearing) rule(call *call) ruling {
	var all ruling
	room := make([]int, 2*call.parts())
	all.asked, all.left = room[:0:call.parts()], room[call.parts():call.parts()]
	for i := range call.parts() {
		part := call.part(i)
		one := first(b.rules, call, part)
		if len(b.strict) > 0 {
			if own := first(b.strict, call, part); own.outcome != Allow && severity(own.outcome, own.firm) > severity(one.outcome, one.firm) && own.outcome != "" {
				one = own
			}
		}
		asked, left := all.asked, all.left
		switch one.outcome {
		case Ask:
			asked = append(asked, i)
		case "":
			left = append(left, i)
		}
		if i == 0 || severity(one.outcome, one.firm) > severity(all.outcome, all.firm) {
			all = one
		}
		all.asked, all.left = asked, left
	}
	return all
}

// first is what the first rule that has a part says.
func first(rules []*rule, call *call, part *command) ruling {
	out := ruling{part: part}
	for _, r := range rules {
		if r.outcome == Allow {
			if r.allows(call, part) {
				return ruling{outcome: Allow, rule: r}
			}
			if part != nil && r.commands != nil {
				out.why = part.opaque
			}
			continue
		}
		switch r.stops(call, part) {
		case yes:
			return ruling{outcome: r.outcome, rule: r, part: part, firm: r.firm}
		case maybe:
			if !r.surely {
				return ruling{outcome: Ask, rule: r, doubt: true, firm: r.firm || r.outcome == Deny}
			}
		}
	}
	return out
}
