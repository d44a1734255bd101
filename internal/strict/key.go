package strict

import (
	"unicode"
	"unicode/utf8"
)

// name sees a key and the colon behind it, and that no other key of the object
// is the same or nearly.
func (c *checker) name() Kind {
	if c.here() != '"' {
		return c.wrong()
	}
	quote := c.i
	c.i++
	if k := c.string(); k != "" {
		return k
	}
	key := span{quote + 1, c.i - 1}
	first := c.open[c.depth-1].keys
	if c.n-first == MaxKeys || c.n == maxOpen {
		c.i = quote
		return Keys
	}
	h := c.hashed(key)
	maybe := &c.maybe[c.depth-1]
	if c.n == first {
		*maybe = [filterWords]uint64{}
	}
	word, bit := h>>6%filterWords, uint64(1)<<(h%64)
	if maybe[word]&bit != 0 {
		if k := c.clash(first, h, key); k != "" {
			c.i = quote
			return k
		}
	}
	maybe[word] |= bit
	c.hash[c.n], c.key[c.n] = h, key
	c.n++
	c.space()
	if c.here() != ':' {
		return c.wrong()
	}
	c.i++
	c.space()
	return ""
}

// clash looks for a key like this one among those of the innermost object.
func (c *checker) clash(first int, h uint32, key span) Kind {
	for j, other := range c.hash[first:c.n] {
		if other == h {
			if alike, same := c.alike(key, c.key[first+j]); same {
				return Duplicate
			} else if alike {
				return Variant
			}
		}
	}
	return ""
}

// hashed is the same for keys that are alike.
func (c *checker) hashed(s span) uint32 {
	h := uint32(2166136261)
	for s.from < s.to {
		if b := c.b[s.from]; b < utf8.RuneSelf && b != '\\' {
			if b >= 'a' && b <= 'z' {
				b -= 'a' - 'A'
			}
			h = (h ^ uint32(b)) * 16777619
			s.from++
			continue
		}
		h = (h ^ uint32(fold(c.char(&s)))) * 16777619
	}
	return h
}

// alike compares two keys as encoding/json finds a field, and exactly.
func (c *checker) alike(a, b span) (alike, same bool) {
	same = true
	for a.from < a.to && b.from < b.to {
		x, y := c.char(&a), c.char(&b)
		if x != y {
			same = false
			if fold(x) != fold(y) {
				return false, false
			}
		}
	}
	if a.from < a.to || b.from < b.to {
		return false, false
	}
	return true, same
}

// char takes the first character off a key that was seen to be right.
func (c *checker) char(s *span) rune {
	switch b := c.b[s.from]; {
	case b == '\\':
		r, size, _ := escape(c.b[s.from:s.to])
		s.from += size
		return r
	case b < utf8.RuneSelf:
		s.from++
		return rune(b)
	}
	r, size := utf8.DecodeRune(c.b[s.from:s.to])
	s.from += size
	return r
}

// fold is one character for all that differ only in case: also the long s and
// the sign of Kelvin are letters of ASCII here, because encoding/json says so.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
