package schema

import "encoding/json"

const (
	// maxSteps bounds the work of one check: a schema and arguments that were made
	// to fit badly are looked at again and again. A step is less than a microsecond.
	maxSteps = 1_000_000
	// maxDepth bounds how deep the schemas are that are looked at within each other.
	maxDepth = 30_000
)

// run is one reading of one value. It is out when it has no steps left: then
// nothing that it says of what fits holds.
type run struct {
	steps   int // that are left
	depth   int
	out     bool
	tracked bool
	memo    map[pair]verdict // of shared shapes: all others are looked at as often as what they are in
	buffer  []byte
}

// pair is a schema and what it is asked about.
type pair struct {
	s *shape
	v *item
}

type verdict struct {
	ok    bool
	parts seen
}

// spend reports whether there are still steps left.
func (r *run) spend(n int) bool {
	if !r.out {
		r.steps -= n
		r.out = r.steps < 0
	}
	return !r.out
}

// takes reports whether v fits s.
func (r *run) takes(s *shape, v *item) bool {
	r.memo = nil
	ok, _ := r.fits(s, v)
	return ok && !r.out
}

// explain is what is wrong with v, which does not fit s.
func (r *run) explain(s *shape, v *item) *words {
	w := &words{told: make([]string, 0, maxProblems), heard: map[pair]bool{}}
	r.look(s, v, w)
	return w
}

// fits reports whether v fits s, and if so which parts of v were looked at. A
// shared shape is looked at once.
func (r *run) fits(s *shape, v *item) (bool, seen) {
	if !s.shared {
		return r.look(s, v, nil)
	}
	if known, ok := r.memo[pair{s, v}]; ok {
		r.spend(1)
		return known.ok, known.parts
	}
	ok, parts := r.look(s, v, nil)
	if r.memo == nil {
		r.memo = map[pair]verdict{}
	}
	r.memo[pair{s, v}] = verdict{ok, parts}
	return ok, parts
}

// look is one schema that is looked at with one value. With words, it says all
// that is wrong; without, it is over with the first.
type look struct {
	*run
	s     *shape
	v     *item
	words *words
	ok    bool
	seen  seen
}

func (r *run) look(s *shape, v *item, w *words) (bool, seen) {
	if !r.spend(1) || r.depth >= maxDepth {
		r.out = true
		return false, nil
	}
	l := look{run: r, s: s, v: v, words: w, ok: true}
	r.depth++
	l.all()
	r.depth--
	if !l.ok || r.out {
		return false, nil
	}
	return true, l.seen
}

func (l *look) all() {
	s := l.s
	if s.never && l.fails() {
		l.say("nothing may be here")
	}
	if s.ref != nil {
		l.also(s.ref)
	}
	if s.types != nil && !l.has(s.types) {
		l.wants(s.types)
		return
	}
	if s.enum != nil && !l.among(s.enum) && l.fails() {
		l.say("value must be %s", s.enum.words)
	}
	if s.just != nil && !l.among(s.just) && l.fails() {
		l.say("value must be %s", s.just.words)
	}
	if l.over() {
		return
	}
	switch v := l.v.raw.(type) {
	case map[string]any:
		if s.object != nil {
			l.object(s.object, v)
		}
	case []any:
		if s.list != nil {
			l.list(s.list)
		}
	case string:
		if s.text != nil {
			l.text(s.text, v)
		}
	case json.Number:
		if s.number != nil {
			l.number(s.number, v)
		}
	}
	l.choices()
	if !l.ok || l.out || len(l.v.below) == 0 { // what did not fit looked at nothing
		return
	}
	if _, object := l.v.raw.(map[string]any); object && s.unevaluatedFields != nil {
		l.unevaluated(s.unevaluatedFields, true)
	} else if !object && s.unevaluatedItems != nil {
		l.unevaluated(s.unevaluatedItems, false)
	}
}

// over reports whether there is nothing more to find out.
func (l *look) over() bool { return l.out || !l.ok && l.words == nil }

// also looks at another schema of the same value.
func (l *look) also(s *shape) {
	ok, parts := l.must(s, l.v)
	if ok {
		l.seen.merge(l.run, parts)
	}
}

// below looks at a part of the value.
func (l *look) below(s *shape, i int) {
	l.must(s, &l.v.below[i])
	l.seen.mark(l.run, i, len(l.v.below))
}

// must is fits, with words for what does not.
func (l *look) must(s *shape, v *item) (ok bool, parts seen) {
	if l.words == nil || s.shared && !l.words.first(pair{s, v}) {
		ok, parts = l.fits(s, v)
	} else {
		ok, parts = l.look(s, v, l.words)
	}
	if !ok {
		l.ok = false
	}
	return ok, parts
}
