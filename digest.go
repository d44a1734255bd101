package harness

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Digest names the arguments of a call: the same for all ways to write the same
// value, and no other. It is SHA-256 over the form of RFC 8785 (no white space,
// keys in order, one spelling of each string and number), where that form is
// exact. Where it is not (numbers beyond a float64, keys that are there twice,
// text that is not Unicode) nothing is lost, so that no two readers can
// understand different things by one digest.
func Digest(input json.RawMessage) string {
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	form, ok := canonical(input)
	if !ok || bytes.ContainsRune(form, utf8.RuneError) { // it stands for what was not Unicode
		form = append([]byte("as it is:"), input...)
	}
	sum := sha256.Sum256(form)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// canonical is the one form of a JSON text.
func canonical(input []byte) ([]byte, bool) {
	if !json.Valid(input) { // so that no token below can fail
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	first, err := dec.Token()
	if err != nil {
		return nil, false
	}
	return appendCanonical(nil, dec, first)
}

// appendCanonical appends the value that begins with a token.
func appendCanonical(b []byte, dec *json.Decoder, t json.Token) ([]byte, bool) {
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return appendCanonicalArray(b, dec)
		}
		return appendCanonicalObject(b, dec)
	case json.Number:
		return append(b, canonicalNumber(t.String())...), true
	}
	return appendJSON(b, t), true // a string, a truth value or nothing
}

func appendCanonicalArray(b []byte, dec *json.Decoder) ([]byte, bool) {
	b = append(b, '[')
	for n := 0; dec.More(); n++ {
		if n > 0 {
			b = append(b, ',')
		}
		t, err := dec.Token()
		ok := err == nil
		if ok {
			b, ok = appendCanonical(b, dec, t)
		}
		if !ok {
			return nil, false
		}
	}
	_, err := dec.Token()
	return append(b, ']'), err == nil
}

func appendCanonicalObject(b []byte, dec *json.Decoder) ([]byte, bool) {
	type member struct {
		key   string
		units []uint16 // what RFC 8785 sorts by
		value []byte
	}
	var all []member
	for dec.More() {
		k, err := dec.Token()
		key, isKey := k.(string)
		if err != nil || !isKey {
			return nil, false
		}
		t, err := dec.Token()
		if err != nil {
			return nil, false
		}
		value, ok := appendCanonical(nil, dec, t)
		if !ok {
			return nil, false
		}
		all = append(all, member{key, utf16.Encode([]rune(key)), value})
	}
	slices.SortStableFunc(all, func(x, y member) int { return slices.Compare(x.units, y.units) })
	b = append(b, '{')
	for i, m := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendJSON(b, m.key), ':'), m.value...)
	}
	_, err := dec.Token()
	return append(b, '}'), err == nil
}

// canonicalNumber is one spelling of a number: that of ECMAScript if it is
// exactly this number, else all of its digits.
func canonicalNumber(s string) string {
	exact := decimal(s)
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		if short := string(appendJSON(nil, f)); decimal(short) == exact && short != "-0" {
			return short
		}
	}
	return exact
}

// decimal is a number as its digits without zeros at either end, and a power of
// ten; it is the same for all spellings of a number.
func decimal(s string) string {
	s, negative := strings.CutPrefix(s, "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(s), "e")
	exp := 0
	if power != "" {
		var err error
		if exp, err = strconv.Atoi(power); err != nil { // further than anybody counts
			return s
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exp -= len(fraction)
	short := strings.TrimRight(digits, "0")
	exp += len(digits) - len(short)
	switch {
	case short == "":
		return "0"
	case negative:
		short = "-" + short
	}
	return short + "e" + strconv.Itoa(exp)
}

// Covers reports whether a decision lets a call run: it allows it, and was made
// about these arguments. Whoever runs a tool asks when it runs it.
func (d Decision) Covers(input json.RawMessage) bool {
	return d.Verdict == Allow && cmp.Or(d.Digest, "none") == Digest(input)
}
