package object

import (
	"math/bits"
	"slices"
	"unicode/utf8"
)

// AppendString appends s to dst as a JSON string. Only what JSON demands is
// escaped: quotes, backslashes and control characters. Every byte of s that is
// not part of valid UTF-8 becomes one U+FFFD.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, s)
	return append(dst, '"')
}

// appendEscaped appends what stands between the quotes. Two valid texts
// appended one after the other give the same bytes as their concatenation.
func appendEscaped[S string | []byte](dst []byte, s S) []byte {
	const hex = "0123456789abcdef"
	done, i := 0, 0 // s[done:i] stands for itself and is not yet appended
	for {
		if i += plain(s[i:]); i == len(s) {
			return append(dst, s[done:]...)
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			if n := valid(s[i:]); n > 0 {
				i += n
				continue
			}
		}
		dst = append(dst, s[done:i]...)
		i++
		done = i
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			if c >= utf8.RuneSelf {
				dst = append(dst, "\uFFFD"...)
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
	}
}

// plain returns the length of the longest start of s that stands for itself in
// a JSON string and is ASCII. It looks at eight bytes at a time.
func plain[S string | []byte](s S) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		control := x - ones*' '
		quote := (x ^ ones*'"') - ones
		slash := (x ^ ones*'\\') - ones
		if m := (x | control | quote | slash) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// valid returns the length of the run of valid non-ASCII UTF-8 at the start of
// s, 0 if s starts with a byte that is not valid.
func valid[S string | []byte](s S) int {
	i := 0
	for i < len(s) && s[i] >= utf8.RuneSelf {
		if s[i]-0xC2 < 0xE0-0xC2 && i+1 < len(s) && s[i+1]&0xC0 == 0x80 { // two bytes: most letters that are not ASCII
			i += 2
			continue
		}
		r, n := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return i
}

// appendHead appends an operation up to the place of its value.
func appendHead(dst []byte, kind Kind, path []string) []byte {
	dst = append(dst, `{"type":`...)
	dst = AppendString(dst, string(kind))
	dst = append(dst, `,"path":[`...)
	for i, seg := range path {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, seg)
	}
	return append(dst, `],"value":`...)
}

// Encoder writes operations and remembers how the path of the last text began,
// so that a text which streams pays for its path once. The zero value is ready.
type Encoder struct {
	path []string
	head []byte // the encoded start of an append-text on path, if not empty
}

// AppendText appends an append-text operation to dst.
func (e *Encoder) AppendText(dst []byte, path []string, text string) []byte {
	dst = append(dst, e.textHead(path)...)
	dst = appendEscaped(dst, text)
	return append(dst, '"', '}')
}

// textHead returns an append-text on path up to and with the opening quote. It
// is valid until the next call.
func (e *Encoder) textHead(path []string) []byte {
	if len(e.head) == 0 || !slices.Equal(e.path, path) {
		e.path = append(e.path[:0], path...)
		e.head = append(appendHead(e.head[:0], AppendText, path), '"')
	}
	return e.head
}
