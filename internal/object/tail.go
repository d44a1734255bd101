package object

import "unicode/utf8"

// SplitValid cuts b before a character that has begun but not ended at the end
// of b. rest is at most three bytes long and shares memory with b. Bytes that
// no continuation can make valid stay in valid.
func SplitValid(b []byte) (valid, rest []byte) {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i], b[i:]
			}
			break
		}
	}
	return b, nil
}

// Tail turns a stream of bytes into pieces of valid text. However the stream
// is cut, the pieces add up to the same text: each invalid byte becomes one
// U+FFFD. The zero value is ready.
type Tail struct {
	held [utf8.UTFMax]byte
	n    int
}

// Next returns the text that chunk completes and holds back the start of a
// character at its end.
func (t *Tail) Next(chunk []byte) string {
	if t.n == 0 && utf8.Valid(chunk) {
		return string(chunk)
	}
	b := make([]byte, 0, t.n+len(chunk))
	b = append(append(b, t.held[:t.n]...), chunk...)
	b, rest := SplitValid(b)
	t.n = copy(t.held[:], rest)
	return repaired(b)
}

// Close returns what is left of a stream that ended inside a character.
func (t *Tail) Close() string {
	s := repaired(t.held[:t.n])
	t.n = 0
	return s
}

// repaired is b with U+FFFD for each invalid byte.
func repaired(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out := make([]byte, 0, len(b)+len(b)/2)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return string(out)
}
