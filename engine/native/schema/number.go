package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

const (
	// maxDigits is how many digits an integer may have, and how many another
	// number that is divided: more would be work, and no tool could take it.
	maxDigits = 1000
	// maxExponent is where exponents end: those beyond it are read as it.
	maxExponent = 1 << 40
)

// number is a number exactly as it is written: digits × 10^exponent. Nothing is
// ever as long as its exponent says.
type number struct {
	negative bool
	digits   string // without zeros at either end; zero has none
	exponent int
}

func numberOf(n json.Number) (x number) {
	text, exponent := n.String(), ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text, exponent = text[:i], text[i+1:]
		if e, err := strconv.Atoi(exponent); err == nil {
			x.exponent = min(max(e, -maxExponent), maxExponent)
		} else if exponent[0] == '-' {
			x.exponent = -maxExponent
		} else {
			x.exponent = maxExponent
		}
	}
	text, x.negative = strings.CutPrefix(text, "-")
	if whole, fraction, ok := strings.Cut(text, "."); ok {
		text, x.exponent = whole+fraction, x.exponent-len(fraction)
	}
	text = strings.TrimLeft(text, "0")
	x.digits = strings.TrimRight(text, "0")
	x.exponent += len(text) - len(x.digits)
	if x.digits == "" {
		return number{}
	}
	return x
}

// isInteger reports whether x is an integer that can be written down.
func (x number) isInteger() bool {
	return x.exponent >= 0 && len(x.digits)+x.exponent <= maxDigits
}

// compare is the sign of x - y.
func (x number) compare(y number) int {
	if x.sign() != y.sign() || x.digits == "" {
		return x.sign() - y.sign()
	}
	larger := len(x.digits) + x.exponent - len(y.digits) - y.exponent
	if larger == 0 {
		larger = strings.Compare(x.digits, y.digits)
	}
	return larger * x.sign()
}

func (x number) sign() int {
	switch {
	case x.digits == "":
		return 0
	case x.negative:
		return -1
	}
	return 1
}

// isMultiple reports whether x is so many times step. It takes neither for a
// number that has more digits than are divided.
func (x number) isMultiple(step number) bool {
	zeros := x.exponent - step.exponent
	switch {
	case x.digits == "":
		return true
	case step.digits == "", zeros < 0, len(x.digits) > maxDigits, len(step.digits) > maxDigits: // the last digit of x is no zero
		return false
	case step.digits == "1":
		return true
	}
	a, _ := new(big.Int).SetString(x.digits, 10)
	b, _ := new(big.Int).SetString(step.digits, 10)
	rest := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(zeros)), b)
	return rest.Mul(rest, a).Mod(rest, b).Sign() == 0
}

// appendTo writes x so that the same numbers are the same text.
func (x number) appendTo(text []byte) []byte {
	if x.negative {
		text = append(text, '-')
	}
	text = append(append(text, x.digits...), 'e')
	return strconv.AppendInt(text, int64(x.exponent), 10)
}
