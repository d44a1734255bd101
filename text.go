package harness

import (
	"encoding/json"
	"unicode/utf8"
)

// Text is a string that grows at its end in amortised constant time and knows
// its length in UTF-16 code units, which is how browsers count. Copies made
// with [Text.Clone] share bytes that are never written again.
type Text struct {
	b     []byte
	units int
}

// NewText starts a text with s.
func NewText(s string) Text {
	var t Text
	t.Append(s)
	return t
}

// Append adds s; bytes that are not UTF-8 become U+FFFD, as everywhere else.
func (t *Text) Append(s string) {
	s = validText(s)
	t.b = append(t.b, s...)
	t.units += utf16Len(s)
}

// validText is s with every byte that is not UTF-8 as U+FFFD, as encoding/json
// writes it.
func validText(s string) string {
	if !utf8.ValidString(s) {
		return string([]rune(s))
	}
	return s
}

func utf16Len(s string) int {
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x80, c >= 0xC0 && c < 0xF0:
			n++
		case c >= 0xF0:
			n += 2
		}
	}
	return n
}

// Clone is t as it is now; t may go on growing.
func (t Text) Clone() Text { return Text{t.b[:len(t.b):len(t.b)], t.units} }

// String is the text; it copies.
func (t Text) String() string { return string(t.b) }

// Bytes is the text without a copy; callers must not change it.
func (t Text) Bytes() []byte { return t.b }

// Len is the length in bytes.
func (t Text) Len() int { return len(t.b) }

// Units is the length in UTF-16 code units.
func (t Text) Units() int { return t.units }

// Is reports whether the text equals s, without a copy.
func (t Text) Is(s string) bool { return string(t.b) == s }

// IsZero lets encoding/json's omitzero leave out an empty text.
func (t Text) IsZero() bool { return len(t.b) == 0 }

// MarshalJSON encodes the text as a JSON string.
func (t Text) MarshalJSON() ([]byte, error) { return appendJSON(nil, string(t.b)), nil }

// UnmarshalJSON replaces the text.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*t = NewText(s)
	return nil
}
