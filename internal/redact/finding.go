package redact

import "math/bits"

// span is a part of a text.
type span struct{ from, to int }

// finding is one look at a text, or at the part of a stream that is there.
type finding struct {
	r    *Redactor
	b    []byte
	all  bool // nothing follows
	bare bool // patterns do not count
	prev byte // what stood before b

	spans []span // that are to go, in order
	kinds []span // those of patterns: no other pattern begins in one
	hold  int    // what stands from here on is not known yet

	open     *pattern // the secret that may go on behind b
	openFrom int      // where it begins; negative: before b
	openTo   int      // how far it is known
	eaten    int      // how much of it had gone before b
}

// scan finds the secrets of b. What is set before goes on from there.
func (f *finding) scan() {
	a, b := f.r.automaton(), f.b
	var s int32
	f.hold = len(b)
	for i := 0; i < len(b); {
		if s == 0 {
			for i < len(b) && !a.start[b[i]] {
				i++
			}
			if i == len(b) {
				break
			}
		}
		s = a.next[int(s)*a.width+int(a.class[b[i]])]
		i++
		if n := int(a.found[s]); n > 0 {
			f.cover(i-n, i)
		}
		if a.begun[s] != 0 && !f.bare && f.open == nil && (len(f.kinds) == 0 || i > f.kinds[len(f.kinds)-1].to) {
			f.begin(a.begun[s], i)
		}
	}
	if f.all {
		f.hold = len(b)
		return
	}
	f.hold = min(f.hold, len(b)-pending(a, s, b, f.prev, f.edge()))
	if f.open != nil {
		if f.openFrom >= f.hold { // it is found again
			f.open = nil
		} else {
			f.hold = min(f.hold, f.openTo)
		}
	}
}

// begin sees whether one of the patterns whose prefix ends at i is there.
func (f *finding) begin(set uint32, i int) {
	for ; set != 0; set &= set - 1 {
		p := &f.r.patterns[bits.TrailingZeros32(set)]
		from := i - len(p.prefix)
		if p.word && from != f.edge() && wordly(f.b, from, f.prev) {
			continue
		}
		switch size, v := p.match(f.b[from:], f.all); v {
		case is:
			f.eaten = 0
			to := f.swallow(p, from+size)
			f.cover(from, to)
			f.kinds = append(f.kinds, span{from, to})
			f.openFrom = from
			return
		case unknown:
			f.hold = min(f.hold, from)
		case isNot:
		}
	}
}

// swallow is how far a secret goes on from a place. If it may go on behind b,
// it is open.
func (f *finding) swallow(p *pattern, at int) (to int) {
	rest := f.b[at:]
	if p.most > 0 {
		rest = rest[:min(len(rest), max(0, p.most-f.eaten))]
	}
	n, ends := p.swallow(rest, f.all && at+len(rest) == len(f.b))
	full := p.most > 0 && f.eaten+len(rest) >= p.most
	ends = ends || full || f.all
	f.open, f.openTo, f.eaten = nil, at+n, f.eaten+n
	if !ends {
		f.open = p
	}
	return at + n
}

// edge is where the last secret ends: no word goes on behind it.
func (f *finding) edge() int {
	if n := len(f.spans); n > 0 {
		return f.spans[n-1].to
	}
	return -1
}

// ends reports whether a secret ends at a place.
func (f *finding) ends(at int) bool {
	for _, s := range f.spans {
		if s.to == at {
			return true
		}
	}
	return false
}

// cover adds a span that ends behind all others, or overlaps the last.
func (f *finding) cover(from, to int) {
	for n := len(f.spans); n > 0 && f.spans[n-1].to >= from; n-- {
		from, to = min(from, f.spans[n-1].from), max(to, f.spans[n-1].to)
		f.spans = f.spans[:n-1]
	}
	f.spans = append(f.spans, span{from, to})
}

// appendTo appends b from a place up to another, without secrets. The first of
// them may be marked already.
func (f *finding) appendTo(out []byte, from, to int, marked bool) []byte {
	at := from
	for i, s := range f.spans {
		if s.from >= to {
			break
		}
		if s.to <= at {
			continue
		}
		out = append(out, f.b[at:max(at, s.from)]...)
		if i > 0 || !marked {
			out = append(out, Mark...)
		}
		at = min(s.to, to)
	}
	return append(out, f.b[at:max(at, to)]...)
}

// across is how far beyond a place a span goes that begins before it.
func across(spans []span, at int) int {
	for _, s := range spans {
		if s.from < at && s.to > at {
			return s.to - at
		}
	}
	return 0
}
