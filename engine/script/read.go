package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"harness"
)

// cutWord splits off the first word.
func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i:], " \t")
	}
	return s, ""
}

func readNothing(o *op, rest string) error {
	if rest != "" {
		return errors.New("nothing may follow")
	}
	return nil
}

func readText(o *op, rest string) error {
	if rest == "" {
		return errors.New("a text must follow")
	}
	return readMaybeText(o, rest)
}

func readMaybeText(o *op, rest string) (err error) {
	if rest == "" {
		return nil
	}
	o.text, o.given = rest, true
	if rest[0] == '"' || rest[0] == '`' {
		if o.text, err = strconv.Unquote(rest); err != nil {
			return fmt.Errorf("the quoted text %s does not end with the line", rest)
		}
	}
	return nil
}

// readName takes a word that names something.
func readName(o *op, rest string) (string, error) {
	name, rest := cutWord(rest)
	if name == "" || strings.ContainsAny(name[:1], "{\"`=") {
		return "", errors.New("a name must follow")
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return "", fmt.Errorf("%q is not a name", name)
	}
	o.name = name
	return rest, nil
}

func readOnlyName(o *op, rest string) error {
	rest, err := readName(o, rest)
	if err == nil && rest != "" {
		err = errors.New("only one name may follow")
	}
	return err
}

// readJSON takes an object if one follows.
func readJSON(o *op, rest string) (string, error) {
	o.json = json.RawMessage("{}")
	if !strings.HasPrefix(rest, "{") {
		return rest, nil
	}
	dec := json.NewDecoder(strings.NewReader(rest))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return "", fmt.Errorf("JSON: %w", err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return "", fmt.Errorf("JSON: %w", err)
	}
	o.json = b.Bytes()
	return strings.TrimLeft(rest[dec.InputOffset():], " \t"), nil
}

func readDuration(o *op, rest string) (err error) {
	if o.wait, err = time.ParseDuration(rest); err == nil && o.wait < 0 {
		err = errors.New("a time cannot be negative")
	}
	return err
}

// readCount reads a whole number up to limit.
func readCount(word string, limit int64) (int64, error) {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < 0 || n > limit {
		return 0, fmt.Errorf("%q is not a number from 0 to %d", word, limit)
	}
	return n, nil
}

func readRepeat(o *op, rest string) (err error) {
	o.n, err = readCount(rest, maxRepeat)
	return err
}

func readStream(o *op, rest string) (err error) {
	n, rest := cutWord(rest)
	if o.n, err = readCount(n, maxRepeat); err != nil {
		return err
	}
	d, rest := cutWord(rest)
	if err := readDuration(o, d); err != nil {
		return err
	}
	return readText(o, rest)
}

func readUsage(o *op, rest string) (err error) {
	f := strings.Fields(rest)
	if len(f) != 2 && len(f) != 3 {
		return errors.New("want IN OUT [COST]")
	}
	if o.n, err = readCount(f[0], math.MaxInt64); err != nil {
		return err
	}
	if o.m, err = readCount(f[1], math.MaxInt64); err != nil {
		return err
	}
	if len(f) == 3 {
		cost, err := strconv.ParseFloat(f[2], 64)
		if err != nil || !(cost >= 0) || math.IsInf(cost, 0) {
			return fmt.Errorf("%q is not a price", f[2])
		}
		o.cost = &cost
	}
	return nil
}

func readStep(o *op, rest string) (err error) {
	of, rest := cutWord(rest)
	i, n, _ := strings.Cut(of, "/")
	if o.n, err = readCount(i, maxRepeat); err != nil {
		return err
	}
	if o.m, err = readCount(n, maxRepeat); err != nil {
		return err
	}
	status := rest
	if strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "`") {
		if o.text, status, err = cutQuoted(rest); err != nil {
			return err
		}
	} else if i := strings.LastIndexAny(rest, " \t"); i >= 0 {
		o.text, status = strings.TrimRight(rest[:i], " \t"), rest[i+1:]
	}
	return readOnlyName(o, status)
}

func readWords(o *op, rest string) error {
	o.words = strings.Fields(rest)
	for _, w := range o.words {
		if strings.ContainsFunc(w, notOfWord) {
			return fmt.Errorf("%q is not a word", w)
		}
	}
	if len(o.words) == 0 {
		return errors.New("a word must follow")
	}
	return nil
}

// notOfWord separates the words of a prompt.
func notOfWord(r rune) bool {
	return r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

func readEmit(o *op, rest string) error {
	rest, err := readName(o, rest)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(rest, "{") {
		return errors.New("want TYPE and a JSON object")
	}
	if rest, err = readJSON(o, rest); err != nil {
		return err
	}
	if rest != "" {
		return fmt.Errorf("%q may not follow", rest)
	}
	_, err = o.payload()
	return err
}

// payload is what an emit emits, new each time.
func (o *op) payload() (harness.Payload, error) {
	info, ok := harness.Lookup(harness.Type(o.name))
	if !ok {
		return nil, fmt.Errorf("the inventory has no %q", o.name)
	}
	p := info.New()
	dec := json.NewDecoder(bytes.NewReader(o.json))
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("%s: %w", o.name, err)
	}
	return p, nil
}
