package schema

import "encoding/json"

// numbers are the keywords about numbers.
type numbers struct {
	limits []limit
	step   *bound
}

// limit is one that a number may not be beyond.
type limit struct {
	bound
	keyword string
	side    int  // where it is: 1 above the number, -1 below
	itself  bool // the number may be the limit
}

func (r reader) numbers() *numbers {
	n := &numbers{step: r.bound("multipleOf")}
	if n.step != nil && (n.step.sign() <= 0 || len(n.step.digits) > maxDigits) {
		r.c.fail("multipleOf must be more than 0, and of at most %d digits", maxDigits)
	}
	least, most, above, under := "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"
	n.limits = r.limit(n.limits, least, above, -1)
	n.limits = r.limit(n.limits, most, under, 1)
	if len(n.limits) == 0 && n.step == nil {
		return nil
	}
	return n
}

// limit reads a limit and the one that is not in it, which in draft 4 only says
// whether the other is.
func (r reader) limit(limits []limit, keyword, exclusive string, side int) []limit {
	b := r.bound(keyword)
	if is, ok := r.doc[exclusive].(bool); ok {
		if b != nil && is {
			limits = append(limits, limit{*b, exclusive, side, false})
		} else if b != nil {
			limits = append(limits, limit{*b, keyword, side, true})
		}
		return limits
	}
	if b != nil {
		limits = append(limits, limit{*b, keyword, side, true})
	}
	if b := r.bound(exclusive); b != nil {
		limits = append(limits, limit{*b, exclusive, side, false})
	}
	return limits
}

func (l *look) number(rules *numbers, v json.Number) {
	if !l.spend(1 + len(v)/64) {
		return
	}
	n := numberOf(v)
	for _, k := range rules.limits {
		if beyond := n.compare(k.number) * k.side; (beyond > 0 || beyond == 0 && !k.itself) && l.fails() {
			l.say("%s: got %s, want %s", k.keyword, head(v.String()), k.text)
		}
	}
	if rules.step == nil {
		return
	}
	if digits := min(len(n.digits), maxDigits) + len(rules.step.digits); !l.spend(1 + digits*digits/1024) {
		return
	}
	if !n.isMultiple(rules.step.number) && l.fails() {
		l.say("multipleOf: got %s, want %s", head(v.String()), rules.step.text)
	}
}
