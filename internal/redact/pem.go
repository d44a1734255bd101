package redact

import (
	"bytes"
	"strings"
)

// Private keys in PEM.
const (
	pemBegin  = "-----BEGIN "
	pemKind   = "PRIVATE KEY"
	pemEnd    = "-----END "
	pemDashes = "-----"
	maxPEM    = lookAhead
	// A key of 16,384 bits, escaped twice; behind that somebody only speaks of
	// private keys.
	maxPEMBody = 32 << 10
	// No line of a key is shorter, but the last: then it is a word.
	minPEMLine = 40
	maxPEMGap  = 64 // white space between two lines, with its escapes
	maxPEMHead = 80 // a header
)

var (
	pemLabel  = setOf("AZ09  ")
	pemBase64 = setOf("azAZ09++//==")
	pemDigits = setOf("09")
	pemValue  = setOf("azAZ09  ,,..//__--")
)

// pemHeaders are those that a private key may have, with what ends some of them
// although it could be code elsewhere.
var (
	pemHeaders = []string{"Proc-Type: ", "DEK-Info: ", "Version: ", "Comment: "}
	pemSystems = []string{"(GNU/Linux)", "(MingW32)", "(Darwin)", "(Cygwin)", "(FreeBSD)"}
)

// pem is a private key: its first line and, as far as they follow it with
// nothing between them but white space, lines of base64, headers, numbers of
// lines, and its last line. Whatever else stands there ends it, and is shown.
func pem() pattern {
	return pattern{
		prefix: pemBegin, most: maxPEMBody,
		match:   func(b []byte, all bool) (int, verdict) { return pemLine(b, pemBegin, all) },
		swallow: pemBody,
	}
}

// pemLine is the first or the last line of a private key.
func pemLine(b []byte, begins string, all bool) (int, verdict) {
	if len(b) < len(begins) {
		return 0, perhaps(strings.HasPrefix(begins, string(b)) && !all)
	}
	if !bytes.HasPrefix(b, []byte(begins)) {
		return 0, isNot
	}
	rest := b[len(begins):min(len(b), len(begins)+maxPEM)]
	n := pemLabel.run(rest)
	label, tail := rest[:n], rest[n:]
	switch {
	case len(tail) >= len(pemDashes):
		if bytes.HasPrefix(tail, []byte(pemDashes)) && bytes.Contains(label, []byte(pemKind)) {
			return len(begins) + n + len(pemDashes), is
		}
	case len(rest) < maxPEM && strings.HasPrefix(pemDashes, string(tail)):
		return 0, perhaps(!all)
	}
	return 0, isNot
}

func perhaps(open bool) verdict {
	if open {
		return unknown
	}
	return isNot
}

// pemBody is how much of b goes on with a private key. It gives the same in
// whatever parts the text comes.
func pemBody(b []byte, all bool) (size int, ends bool) {
	for {
		gap, v := pemGap(b[size:], all)
		if v != is {
			return size, v == isNot
		}
		at := size + gap
		if n, v := pemLine(b[at:], pemEnd, all); v == is {
			return at + n, true
		} else if v == unknown {
			return size, false
		}
		n, v := pemPiece(b[at:], all)
		if v != is {
			return size, v == isNot
		}
		size = at + n
	}
}

// pemGap is the white space at the beginning of b, escaped or not.
func pemGap(b []byte, all bool) (int, verdict) {
	i := 0
	for i < len(b) {
		n := 0
		switch b[i] {
		case ' ', '\t', '\r', '\n':
			n = 1
		case '\\':
			for i+n < len(b) && b[i+n] == '\\' {
				n++
			}
			if i+n == len(b) {
				return i, perhaps(!all && i+n <= maxPEMGap)
			}
			if c := b[i+n]; c != 'n' && c != 'r' && c != 't' {
				return i, is
			}
			n++
		}
		if n == 0 {
			break
		}
		if i += n; i > maxPEMGap {
			return i, isNot
		}
	}
	if i == len(b) {
		return i, perhaps(!all)
	}
	return i, is
}

// pemPiece is a line of base64, a header or the number of a line.
func pemPiece(b []byte, all bool) (int, verdict) {
	sign := 0
	if b[0] == '-' { // a line that was taken out, in a diff
		sign = 1
	}
	n := pemBase64.run(b[sign:])
	switch open := sign+n == len(b) && !all; {
	case open && n >= 2*minPEMLine:
		return sign + (n/minPEMLine-1)*minPEMLine, is // what is left is a line, too
	case open:
		return 0, unknown
	case n >= minPEMLine:
		return sign + n, is
	}
	if n, v := pemNumber(b, all); v != isNot {
		return n, v
	}
	if n > 0 {
		if v := pemEnds(b[sign+n:], all, true); v != isNot {
			return sign + n, v
		}
	}
	return pemHeader(b, all)
}

// pemNumber is the number of a line, before that line.
func pemNumber(b []byte, all bool) (int, verdict) {
	const most = 6
	n := pemDigits.run(b)
	if n == 0 || n > most {
		return 0, isNot
	}
	for _, behind := range []string{"\t", `\t`, `\\t`, "→"} {
		switch rest := b[n:]; {
		case bytes.HasPrefix(rest, []byte(behind)):
			if behind == "→" {
				n += len(behind)
			}
			return n, is
		case !all && strings.HasPrefix(behind, string(rest)):
			return 0, unknown
		}
	}
	return 0, isNot
}

// pemEnds reports whether nothing but the last line follows, or a checksum
// before that.
func pemEnds(b []byte, all, sum bool) verdict {
	for numbers := 0; ; numbers++ {
		gap, v := pemGap(b, all)
		if v != is {
			return v
		}
		b = b[gap:]
		n, v := pemNumber(b, all)
		if v == unknown {
			return v
		}
		if v == isNot || numbers > 0 {
			break
		}
		b = b[n:]
	}
	if _, v := pemLine(b, pemEnd, all); v != isNot || !sum || b[0] != '=' {
		return v
	}
	const size = len("=ABCD")
	n := pemBase64.run(b)
	switch {
	case n == len(b) && n <= size && !all:
		return unknown
	case n != size:
		return isNot
	}
	return pemEnds(b[n:], all, false)
}

// pemHeader is a header, up to the end of its line.
func pemHeader(b []byte, all bool) (int, verdict) {
	for _, name := range pemHeaders {
		if len(b) < len(name) && !all && strings.HasPrefix(name, string(b)) {
			return 0, unknown
		}
		if !bytes.HasPrefix(b, []byte(name)) {
			continue
		}
		n := len(name) + pemValue.run(b[len(name):])
		if n > maxPEMHead {
			return 0, isNot
		}
		for _, s := range pemSystems {
			if rest := b[n:]; bytes.HasPrefix(rest, []byte(s)) {
				n += len(s)
				break
			} else if !all && strings.HasPrefix(s, string(rest)) {
				return 0, unknown
			}
		}
		if n == len(b) {
			return n, perhaps(!all)
		}
		if c := b[n]; c != '\n' && c != '\r' && c != '\\' {
			return 0, isNot
		}
		return n, is
	}
	return 0, isNot
}
