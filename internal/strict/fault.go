package strict

import "fmt"

// Kind says what is wrong with a text.
type Kind string

// The kinds: everything that is refused is one of these.
const (
	TooLarge  Kind = "larger than allowed"
	TooDeep   Kind = "nested too deeply"
	Keys      Kind = "too many keys"
	Duplicate Kind = "a key is there twice"
	Variant   Kind = "two keys differ only in case"
	UTF8      Kind = "not UTF-8"
	Surrogate Kind = "half of a surrogate pair"
	NUL       Kind = "a NUL character"
	Control   Kind = "a control character in a string"
	Number    Kind = "a number that no float64 holds"
	BOM       Kind = "a byte order mark"
	Trailing  Kind = "something follows the value"
	Short     Kind = "the text ends too early"
	Syntax    Kind = "not JSON"
)

// Kinds lists every kind, for tables that must cover them.
func Kinds() []Kind {
	return []Kind{TooLarge, TooDeep, Keys, Duplicate, Variant, UTF8, Surrogate, NUL, Control, Number, BOM, Trailing, Short, Syntax}
}

// Fault is why a text was refused, and where.
type Fault struct {
	Kind   Kind
	Offset int // of the byte that is wrong
}

func (f *Fault) Error() string { return fmt.Sprintf("%s, at byte %d", f.Kind, f.Offset) }
