package strict

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// noCase takes the bit off that tells small letters from capital ones, and a
// few other characters from each other, which costs a comparison.
const (
	noCase   = 0xdf
	noCases  = 0xdfdfdfdfdfdfdfdf
	allHighs = 0x8080808080808080
)

// hashed is the same for keys that are alike: of their characters, folded and
// in UTF-8, eight bytes at a time.
func (c *checker) hashed(s span) uint32 {
	h, n := c.seed[0], uint64(s.to-s.from)
	for s.from < s.to {
		left := s.to - s.from
		var w uint64
		switch {
		case s.from+8 <= len(c.b):
			w = binary.LittleEndian.Uint64(c.b[s.from:])
			if left < 8 {
				w &= 1<<(8*left) - 1
			}
		default:
			for i := range left { // fewer than eight: the text ends there
				w |= uint64(c.b[s.from+i]) << (8 * i)
			}
		}
		if w&allHighs != 0 || hasSlash(w) {
			return c.hashedSlowly(h, n-uint64(left), s)
		}
		h = c.mix(h, w&noCases)
		s.from += min(left, 8)
	}
	return uint32(c.mix(h, n))
}

// hashedSlowly goes on behind n bytes, where a character is not ASCII or
// escaped.
func (c *checker) hashedSlowly(h, n uint64, s span) uint32 {
	var w uint64
	var buf [utf8.UTFMax]byte
	for s.from < s.to {
		for _, b := range utf8.AppendRune(buf[:0], fold(c.char(&s))) {
			if b < utf8.RuneSelf {
				b &= noCase
			}
			w |= uint64(b) << (8 * (n % 8))
			if n++; n%8 == 0 {
				h, w = c.mix(h, w), 0
			}
		}
	}
	if n%8 != 0 {
		h = c.mix(h, w)
	}
	return uint32(c.mix(h, n))
}

func (c *checker) mix(h, w uint64) uint64 {
	hi, lo := bits.Mul64(h^w, c.seed[1]|1)
	return hi ^ lo
}

// hasSlash reports whether one of eight ASCII characters is a backslash, and
// perhaps when none is.
func hasSlash(w uint64) bool {
	const ones = 0x0101010101010101
	x := w ^ ones*'\\'
	return (x-ones)&^x&allHighs != 0
}
