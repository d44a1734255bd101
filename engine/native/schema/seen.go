package schema

// seen is which parts of an object or array a schema has spoken about, for the
// keywords that ask for the others. A part is its index.
type seen []uint64

// mark takes down a part of n.
func (s *seen) mark(r *run, i, n int) {
	if !r.tracked {
		return
	}
	if *s == nil {
		*s = make(seen, (n+63)/64)
		r.spend(len(*s))
	}
	(*s)[i/64] |= 1 << (i % 64)
}

// merge takes down what another schema has spoken about.
func (s *seen) merge(r *run, other seen) {
	if len(other) == 0 {
		return
	}
	r.spend(len(other))
	if *s == nil {
		*s = make(seen, len(other))
	}
	for i, bits := range other {
		(*s)[i] |= bits
	}
}

func (s seen) has(i int) bool { return s != nil && s[i/64]&(1<<(i%64)) != 0 }

// unevaluated looks at the parts that nothing else has spoken about.
func (l *look) unevaluated(s *shape, object bool) {
	var extra []string
	l.spend(len(l.v.below) / 16)
	for i := range l.v.below {
		switch {
		case l.over():
			return
		case l.seen.has(i):
		case s.never && object:
			extra = append(extra, l.v.below[i].name)
			if l.words == nil {
				l.fails()
			}
		default:
			l.below(s, i)
		}
	}
	if len(extra) > 0 && l.fails() {
		l.say("unevaluated properties %s not allowed", quoted(extra...))
	}
}
