package redact

import (
	"slices"
	"strings"
)

// anchors lets run look only at places where something could be: every needle
// and prefix has one byte, its anchor, that is rare in texts, and a byte beside
// it. A text without such a pair has none of them whole.
type anchors struct {
	is   [256]uint8 // 1: the byte is an anchor
	side [256]beside
	lead int // an anchor has at most so many bytes of its needle before it

	pairs [256]bytes256 // what stands behind a byte in some needle, as far as lead
}

// beside is what stands next to an anchor in some needle.
type beside struct{ before, behind bytes256 }

type bytes256 [4]uint64

func (s *bytes256) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *bytes256) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

// maxLead bounds where in a needle its anchor is: so much of a text is read twice
// for each anchor in it.
const maxLead = 7

// common has the bytes of texts and programs, the most frequent first. All others
// are rarer.
const common = " etaoinsrhldcumfpgwy\nbv,.k\"()-_'=:;/0x1TIAS{}2*C>qjz<E[]N#|MWRBPDLO`3FH&%54!8$697GUV+@J?\\XKYZ~Q"

// rarity grows with how seldom a byte is.
func rarity(c byte) int {
	if i := strings.IndexByte(common, c); i >= 0 {
		return i
	}
	return len(common)
}

// anchor chooses for each needle a byte among its first.
func anchor(needles []string) (a anchors) {
	// Those with the least choice are first: their anchors may do for others.
	order := slices.Clone(needles)
	slices.SortStableFunc(order, func(x, y string) int { return rarity(x[rarest(x)]) - rarity(y[rarest(y)]) })
	for _, n := range order {
		at := slices.IndexFunc([]byte(n[:min(len(n), maxLead+1)]), func(c byte) bool { return a.is[c] != 0 })
		if at < 0 {
			at = rarest(n)
		}
		c := n[at]
		a.is[c] = 1
		if at > 0 {
			a.side[c].before.add(n[at-1])
		} else {
			a.side[c].behind.add(n[1])
		}
		a.lead = max(a.lead, at)
	}
	for _, n := range needles {
		for i := 1; i < min(len(n), a.lead); i++ {
			a.pairs[n[i-1]].add(n[i])
		}
	}
	return a
}

// rarest is where in its first bytes a needle has the one that is rarest.
func rarest(n string) int {
	best := 0
	for i := range min(len(n), maxLead+1) {
		if rarity(n[i]) > rarity(n[best]) {
			best = i
		}
	}
	return best
}

// next is the first place from i on where an anchor stands beside a byte that
// it has beside it in a needle, or may have because the text ends there. It is
// len(b) if there is none.
func next[T text](a *anchors, b T, i int) int {
	is := &a.is
	for {
		for ; i+8 <= len(b); i += 8 { // this is where the time goes
			w := b[i : i+8]
			if is[w[0]]|is[w[1]]|is[w[2]]|is[w[3]]|is[w[4]]|is[w[5]]|is[w[6]]|is[w[7]] != 0 {
				break
			}
		}
		for end := min(i+8, len(b)); i < end; i++ {
			if is[b[i]] == 0 {
				continue
			}
			s := &a.side[b[i]]
			if i == 0 || i+1 == len(b) || s.before.has(b[i-1]) || s.behind.has(b[i+1]) {
				return i
			}
		}
		if i == len(b) {
			return i
		}
	}
}
