package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// maxJSON is how many times a value may stand in JSON that stands in JSON: a
// tool prints what a server answered, and that is an event of the log.
const maxJSON = 3

// forms are the ways in which a value may stand in a text.
func forms(value string) []string {
	all := []string{value}
	for depth := range maxJSON { // JSON in JSON in JSON
		for _, inner := range all[len(all)-1<<depth:] {
			all = append(all, inJSON(inner, true), inJSON(inner, false))
		}
	}
	query, path := url.QueryEscape(value), url.PathEscape(value)
	all = append(all, query, path, lowerPercent(query), lowerPercent(path), percent(value))
	all = append(all, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))))
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			all = append(all, inBase64(alphabet, value, shift))
		}
	}
	return all
}

// inJSON is the inside of a JSON string.
func inJSON(s string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if enc.Encode(s) != nil {
		return s
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}

// inBase64 is the part of a base64 text that only depends on the value, if it
// stands behind shift bytes of a group of three.
func inBase64(alphabet *base64.Encoding, value string, shift int) string {
	whole := alphabet.EncodeToString([]byte(strings.Repeat("\x00", shift) + value))
	from := []int{0, 2, 3}[shift] // characters that also depend on what stands before
	to := (shift + len(value)) * 8 / 6
	if from >= to {
		return ""
	}
	return whole[from:to]
}

// percent writes every byte as in a URL.
func percent(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte('%')
		b.WriteByte(digits[s[i]>>4])
		b.WriteByte(digits[s[i]&15])
	}
	return b.String()
}

// lowerPercent writes what percent signs introduce in lower case.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:i+3], strings.ToLower(string(b[i:i+3])))
		}
	}
	return string(b)
}
