package redact

// automaton finds all needles of a set in one pass (Aho and Corasick, 1975),
// and reports which patterns may begin. It is never changed once it is built.
type automaton struct {
	class [256]uint8 // bytes that no needle has are all the same
	width int
	next  []int32   // state × class
	found []int32   // per state: the length of the longest needle that ends here
	begun []uint32  // per state: a bit for each pattern whose prefix ends here
	depth []int32   // per state: how much of a needle or prefix may have begun
	start [256]bool // bytes that leave state 0
}

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
		s := a.path(n)
		a.found[s] = int32(len(n))
	}
	for i, p := range patterns {
		s := a.path(p.prefix)
		a.begun[s] |= 1 << i
	}
	a.link()
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
	a.found, a.begun, a.depth = append(a.found, 0), append(a.begun, 0), append(a.depth, depth)
	return int32(len(a.depth) - 1)
}

// path is the state behind a needle.
func (a *automaton) path(needle string) int32 {
	s := int32(0)
	for i := range len(needle) {
		at := int(s)*a.width + int(a.class[needle[i]])
		if a.next[at] == 0 {
			n := a.state(int32(i + 1))
			a.next[at] = n
		}
		s = a.next[at]
	}
	return s
}

// link makes every state know what to do with every byte.
func (a *automaton) link() {
	back := make([]int32, len(a.depth))
	queue := make([]int32, 0, len(a.depth))
	for c := range a.width {
		if n := a.next[c]; n != 0 {
			queue = append(queue, n)
		}
	}
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		a.found[s] = max(a.found[s], a.found[back[s]])
		a.begun[s] |= a.begun[back[s]]
		for c := range a.width {
			at, fallback := int(s)*a.width+c, a.next[int(back[s])*a.width+c]
			if n := a.next[at]; n != 0 {
				back[n] = fallback
				queue = append(queue, n)
			} else {
				a.next[at] = fallback
			}
		}
	}
}
