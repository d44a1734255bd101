package bm25

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// MaxTerm is the longest term in bytes; what is longer is a key or a picture and
// says nothing.
const MaxTerm = 48

// maxQuery is how many terms of a query count.
const maxQuery = 64

// Terms calls yield with each term of the text, in lower case. The bytes are
// valid until yield returns.
//
// A word is a run of letters, digits and underscores. It is one term without its
// underscores and, if it has several parts (snake_case, camelCase, HTTPServer,
// utf8), each part is one too: so userID, user_id and "user id" meet. A plural
// is its singular. Signs that are words by themselves, as in Chinese, are terms.
func Terms(text string, yield func(term []byte)) {
	var w word
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		switch {
		case r >= utf8.RuneSelf && ideograph(r):
			w.flush(yield)
			var one [utf8.UTFMax]byte
			yield(one[:utf8.EncodeRune(one[:], r)])
		case r == '_':
			w.cut()
			w.under = w.size > 0
		case r < utf8.RuneSelf && ofASCII(r) != other, r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			w.add(r)
		default:
			w.flush(yield)
		}
	}
	w.flush(yield)
}

// Query returns the different terms of a query, in their order.
func Query(text string) (terms []string) {
	Terms(text, func(term []byte) {
		if len(terms) < maxQuery && !slices.Contains(terms, string(term)) {
			terms = append(terms, string(term))
		}
	})
	return terms
}

type kind uint8

const (
	other kind = iota
	lower
	upper
	digit
)

// ofASCII is the kind of an ASCII character.
func ofASCII(c rune) kind {
	switch {
	case c >= 'a' && c <= 'z':
		return lower
	case c >= 'A' && c <= 'Z':
		return upper
	case c >= '0' && c <= '9':
		return digit
	}
	return other
}

// word collects one word and where its parts begin.
type word struct {
	text  [MaxTerm]byte
	size  int // more than MaxTerm if it is too long
	cuts  [MaxTerm]uint8
	parts int // cuts in use
	last  kind
	run   int // letters of the kind last
	under bool
}

func (w *word) add(r rune) {
	k := lower
	switch {
	case r < utf8.RuneSelf:
		if k = ofASCII(r); k == upper {
			r += 'a' - 'A'
		}
	case unicode.IsDigit(r):
		k = digit
	case unicode.IsUpper(r):
		k = upper
		r = unicode.ToLower(r)
	}
	switch {
	case w.size == 0, w.under:
	case k == upper && w.last != upper, k == digit != (w.last == digit):
		w.cut()
	case k == lower && w.last == upper && w.run > 1:
		w.cutBefore() // HTTPServer: the S begins a part
	}
	w.under = false
	if k == w.last {
		w.run++
	} else {
		w.last, w.run = k, 1
	}
	if n := utf8.RuneLen(r); n > 0 && w.size+n <= MaxTerm {
		utf8.EncodeRune(w.text[w.size:], r)
		w.size += n
	} else {
		w.size = MaxTerm + 1
	}
}

// cut begins a part at the end.
func (w *word) cut() {
	if w.size > 0 && w.size < MaxTerm && (w.parts == 0 || int(w.cuts[w.parts-1]) < w.size) {
		w.cuts[w.parts] = uint8(w.size)
		w.parts++
	}
}

// cutBefore begins a part at the last letter.
func (w *word) cutBefore() {
	if w.size > MaxTerm {
		return
	}
	_, n := utf8.DecodeLastRune(w.text[:w.size])
	if at := w.size - n; at > 0 && (w.parts == 0 || int(w.cuts[w.parts-1]) < at) {
		w.cuts[w.parts] = uint8(at)
		w.parts++
	}
}

// flush ends the word.
func (w *word) flush(yield func([]byte)) {
	if w.size > 0 && w.size <= MaxTerm {
		whole := w.text[:w.size]
		if w.parts > 0 && int(w.cuts[w.parts-1]) == w.size {
			w.parts-- // an underscore at the end
		}
		yield(singular(whole))
		from := 0
		for i := 0; i <= w.parts && w.parts > 0; i++ {
			to := w.size
			if i < w.parts {
				to = int(w.cuts[i])
			}
			if to > from {
				yield(singular(whole[from:to]))
			}
			from = to
		}
	}
	w.size, w.parts, w.run, w.last, w.under = 0, 0, 0, other, false
}

// singular cuts the s of an English plural, and only what is safe to cut.
func singular(t []byte) []byte {
	n := len(t)
	if n < 4 || t[n-1] != 's' || t[n-2] == 's' || t[n-2] == 'u' || t[n-2] == 'i' || kindOf(t[n-2]) != lower {
		return t
	}
	return t[:n-1]
}

func kindOf(c byte) kind {
	if c < utf8.RuneSelf {
		return ofASCII(rune(c))
	}
	return lower
}

// ideograph reports whether a sign is a word by itself.
func ideograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
