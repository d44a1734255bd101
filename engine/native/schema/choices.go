package schema

// choices looks at the keywords whose schemas are of the same value.
func (l *look) choices() {
	s := l.s
	for _, each := range s.all {
		if l.over() {
			return
		}
		l.also(each)
	}
	if s.any != nil && !l.over() {
		l.choice("anyOf", s.any, false)
	}
	if s.one != nil && !l.over() {
		l.choice("oneOf", s.one, true)
	}
	if s.not != nil && !l.over() {
		if ok, _ := l.fits(s.not, l.v); ok && l.fails() {
			l.say("'not' failed")
		}
	}
	if s.condition == nil || l.over() {
		return
	}
	ok, parts := l.fits(s.condition, l.v)
	branch := s.otherwise
	if ok {
		branch = s.then
		l.seen.merge(l.run, parts)
	}
	if branch != nil {
		l.also(branch)
	}
}

// choice looks whether one of some schemas fits, and no other if it is to be just
// one. Where none does, it says why not of each.
func (l *look) choice(keyword string, choices []*shape, just bool) {
	var fit []int
	for i, each := range choices {
		ok, parts := l.fits(each, l.v)
		if !ok {
			continue
		}
		l.seen.merge(l.run, parts)
		if fit = append(fit, i); just && len(fit) > 1 || !just && !l.tracked {
			break
		}
	}
	switch {
	case len(fit) == 0 && len(choices) > 0:
		l.ok = false
		for _, each := range choices {
			if l.words != nil {
				l.also(each)
			}
		}
	case len(fit) == 0:
		if l.fails() {
			l.say("'%s' failed, none matched", keyword)
		}
	case just && len(fit) > 1:
		if l.fails() {
			l.say("'oneOf' failed, subschemas %d, %d matched", fit[0], fit[1])
		}
	}
}
