package redact

import "slices"

// automaton finds all needles of a set in one pass (Aho and Corasick, 1975),
// and reports which patterns may begin. It is never changed once it is built.
type automaton struct {
	class [256]uint8 // bytes that no needle has are all the same
	width int
	next  []int32   // state × class
	found []int32   // per state: the length of the longest needle that ends here
	begun []uint32  // per state: a bit for each pattern whose prefix ends here
	depth []int32   // per state: how much of a needle or prefix may have begun
	back  []int32   // per state: the one for the longest shorter beginning
	more  []uint8   // per state: what has begun and goes on behind it; see below
	start [256]bool // bytes that leave state 0

	anchor anchors
}

// What may go on behind a state.
const (
	anywhere = 1 << iota // something that may stand inside a word
	asWord               // something that may not
)

// text is something to look at.
type text interface{ string | []byte }

func build(needles []string, patterns []pattern) *automaton {
	a := &automaton{width: 1}
	for _, n := range needles {
		a.classify(n)
	}
	for _, p := range patterns {
		a.classify(p.prefix)
	}
	a.state(0)
	for _, n := range needles {
		s := a.path(n, anywhere)
		a.found[s] = int32(len(n))
	}
	for i, p := range patterns {
		where := uint8(anywhere)
		if p.word {
			where = asWord
		}
		s := a.path(p.prefix, where)
		a.begun[s] |= 1 << i
	}
	a.link()
	all := slices.Clone(needles)
	for _, p := range patterns {
		all = append(all, p.prefix)
	}
	a.anchor = anchor(all)
	for b := range 256 {
		a.start[b] = a.next[a.class[b]] != 0
	}
	return a
}

// classify gives every byte of a needle a class of its own. Text has no more
// than 255 that matter; beyond that bytes share the last, which only means that
// a needle with them is found too often.
func (a *automaton) classify(needle string) {
	for i := range len(needle) {
		if a.class[needle[i]] == 0 && a.width < 256 {
			a.class[needle[i]] = uint8(a.width)
			a.width++
		}
	}
}

func (a *automaton) state(depth int32) int32 {
	for range a.width {
		a.next = append(a.next, 0)
	}
	a.found, a.begun, a.depth, a.more = append(a.found, 0), append(a.begun, 0), append(a.depth, depth), append(a.more, 0)
	return int32(len(a.depth) - 1)
}

// path is the state behind a needle that may stand where it says.
func (a *automaton) path(needle string, where uint8) int32 {
	s := int32(0)
	for i := range len(needle) {
		at := int(s)*a.width + int(a.class[needle[i]])
		if a.next[at] == 0 {
			n := a.state(int32(i + 1))
			a.next[at] = n
		}
		s = a.next[at]
		if i+1 < len(needle) {
			a.more[s] |= where
		}
	}
	return s
}

// link makes every state know what to do with every byte.
func (a *automaton) link() {
	a.back = make([]int32, len(a.depth))
	queue := make([]int32, 0, len(a.depth))
	for c := range a.width {
		if n := a.next[c]; n != 0 {
			queue = append(queue, n)
		}
	}
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		a.found[s] = max(a.found[s], a.found[a.back[s]])
		a.begun[s] |= a.begun[a.back[s]]
		for c := range a.width {
			at, fallback := int(s)*a.width+c, a.next[int(a.back[s])*a.width+c]
			if n := a.next[at]; n != 0 {
				a.back[n] = fallback
				queue = append(queue, n)
			} else {
				a.next[at] = fallback
			}
		}
	}
}

// run is the state behind b. It is not ok if b has a needle, or the whole prefix
// of a pattern. It reads b byte by byte only around anchors, and where something
// may have begun: before b, or so near its end that its anchor may come later.
func run[T text](a *automaton, s int32, b T) (end int32, ok bool) {
	last := -1 // what has begun up to there is followed to its end
	for i := 0; ; {
		for i < len(b) && i-int(a.depth[s]) <= last {
			if a.anchor.is[b[i]] != 0 {
				last = max(last, i)
			}
			s = a.next[int(s)*a.width+int(a.class[b[i]])]
			if i++; a.found[s] > 0 || a.begun[s] != 0 {
				return s, false
			}
		}
		if i == len(b) {
			return s, true
		}
		p := next(&a.anchor, b, i)
		if n := len(b); p == n && n > 1 && !a.anchor.pairs[b[n-2]].has(b[n-1]) {
			return a.next[a.class[b[n-1]]], true // at most its last byte begins something
		}
		i, s, last = max(0, p-a.anchor.lead), 0, p
	}
}

// pending is how much at the end of b, which leads to s, may be the beginning of
// a secret. prev stands before b, and a secret ends at edge.
func pending[T text](a *automaton, s int32, b T, prev byte, edge int) int {
	for ; s != 0; s = a.back[s] {
		n := int(a.depth[s])
		at := len(b) - n
		if a.more[s]&anywhere != 0 || a.more[s] != 0 && (at < 0 || at == edge || !wordly(b, at, prev)) {
			return n
		}
	}
	return 0
}

// wordly reports whether what stands before a place could belong to a word.
func wordly[T text](b T, at int, prev byte) bool {
	c := prev
	if at > 0 {
		c = b[at-1]
	}
	return alnum[c] || c == '_'
}
