package strict

import "unicode/utf8"

// sequence is the length of the UTF-8 sequence that b begins with; 0 if there
// is none.
func sequence(b []byte) int {
	if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
		return size
	}
	return 0
}

// escape is the character of the escape that b begins with, and its length. If
// it is wrong, the length is how far it is right.
func escape(b []byte) (r rune, size int, k Kind) {
	if len(b) < 2 {
		return 0, len(b), Short
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2, ""
	case 'b':
		return '\b', 2, ""
	case 'f':
		return '\f', 2, ""
	case 'n':
		return '\n', 2, ""
	case 'r':
		return '\r', 2, ""
	case 't':
		return '\t', 2, ""
	case 'u':
	default:
		return 0, 1, Syntax
	}
	r, size, k = hex(b)
	switch {
	case k != "":
		return 0, size, k
	case r == 0:
		return 0, 0, NUL
	case r >= 0xdc00 && r < 0xe000:
		return 0, 0, Surrogate
	case r < 0xd800 || r >= 0xe000:
		return r, size, ""
	}
	if len(b) > 6 && b[6] != '\\' || len(b) > 7 && b[7] != 'u' {
		return 0, 0, Surrogate
	}
	low, more, k := hex(b[6:])
	switch {
	case k != "":
		return 0, 6 + more, k
	case low < 0xdc00 || low >= 0xe000:
		return 0, 0, Surrogate
	}
	return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000, 12, ""
}

// hex is the value of \uXXXX.
func hex(b []byte) (r rune, size int, k Kind) {
	for i := 2; i < 6; i++ {
		if i >= len(b) {
			return 0, len(b), Short
		}
		switch d := b[i]; {
		case d >= '0' && d <= '9':
			r = r<<4 | rune(d-'0')
		case d|0x20 >= 'a' && d|0x20 <= 'f':
			r = r<<4 | rune(d|0x20-'a'+10)
		default:
			return 0, i, Syntax
		}
	}
	return r, 6, ""
}
