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
	said := c.said
	c.said = false // a name is never others'
	k := c.string()
	if c.said = said; k != "" {
		return k
	}
	key := span{quote + 1, c.i - 1}
	first := c.open[c.depth-1].keys
	if c.n-first == MaxKeys || c.n == maxOpen {
		c.i = quote
		return Keys
	}
	h := c.hashed(key)
	c.hash[c.n], c.key[c.n] = h, key
	if k := c.clash(first, h, key); k != "" {
		c.i = quote
		return k
	}
	c.n++
	c.space()
	if c.here() != ':' {
		return c.wrong()
	}
	c.i++
	c.space()
	return ""
}

// fewKeys is how many keys are compared one by one; an object with more has its
// keys in the table.
const fewKeys = 16

// clash looks for a key like the one at n among those of the innermost object,
// and puts it into the table if that is where they are.
func (c *checker) clash(first int, h uint32, key span) Kind {
	l := &c.open[c.depth-1]
	if l.tabled {
		return c.place(first, c.n)
	}
	for j, other := range c.hash[first:c.n] {
		if other == h {
			if k := c.compare(key, c.key[first+j]); k != "" {
				return k
			}
		}
	}
	if c.n-first == fewKeys {
		l.tabled = true
		for i := first; i <= c.n; i++ {
			c.place(first, i) // they were compared
		}
	}
	return ""
}

// place puts a key of the object that begins at first into the table, unless
// there is one like it.
func (c *checker) place(first, i int) Kind {
	h := c.hash[i]
	at := slot(first, h)
	for ; c.table.keys[at] != 0; at = (at + 1) % slots {
		if j := int(c.table.keys[at]) - 1; j >= first && c.hash[j] == h {
			if k := c.compare(c.key[i], c.key[j]); k != "" {
				return k
			}
		}
	}
	c.table.put(at, i)
	return ""
}

// compare says how two keys are too much alike.
func (c *checker) compare(a, b span) Kind {
	switch alike, same := c.alike(a, b); {
	case same:
		return Duplicate
	case alike:
		return Variant
	}
	return ""
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
