package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"harness"
)

// readUse takes NAME [ID] [JSON].
func readUse(o *op, rest string) (string, error) {
	rest, err := readName(o, rest)
	if err != nil {
		return "", err
	}
	if id, after := cutWord(rest); id != "" && !strings.ContainsAny(id[:1], "{\"`=") && !strings.Contains(id, "=") {
		if err := harness.CheckID("call id", id); err != nil {
			return "", err
		}
		if len(id) > maxCallID {
			return "", fmt.Errorf("call id: longer than %d bytes", maxCallID)
		}
		o.id, rest = harness.CallID(id), after
	}
	return readJSON(o, rest)
}

func readTool(o *op, rest string) error {
	rest, err := readUse(o, rest)
	if err == nil && rest != "" {
		err = fmt.Errorf("%q may not follow", rest)
	}
	return err
}

func readCall(o *op, rest string) error {
	rest, err := readUse(o, rest)
	if err != nil {
		return err
	}
	return readOutput(o, rest)
}

func readOutput(o *op, rest string) error {
	text, ok := strings.CutPrefix(rest, "=>")
	if !ok {
		return fmt.Errorf("want => and a text, have %q", rest)
	}
	o.given = true
	return readMaybeText(o, strings.TrimLeft(text, " \t"))
}

func readAsk(o *op, rest string) error {
	rest, err := readUse(o, rest)
	for err == nil && rest != "" {
		switch {
		case strings.HasPrefix(rest, "=>"):
			return readOutput(o, rest)
		case strings.HasPrefix(rest, "access="):
			var word string
			word, rest = cutWord(rest)
			o.access = harness.Access(strings.TrimPrefix(word, "access="))
			if !slices.Contains([]harness.Access{harness.AccessRead, harness.AccessEdit, harness.AccessExecute, harness.AccessNetwork}, o.access) {
				err = fmt.Errorf("unknown access %q", o.access)
			}
		case strings.HasPrefix(rest, "reason="):
			o.reason, rest, err = cutQuoted(strings.TrimPrefix(rest, "reason="))
		default:
			o.about, rest, err = cutQuoted(rest)
		}
	}
	return err
}

// cutQuoted splits off a quoted string.
func cutQuoted(s string) (text, rest string, err error) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil || q[0] == '\'' {
		return "", "", fmt.Errorf("want a quoted text, have %q", s)
	}
	text, err = strconv.Unquote(q)
	return text, strings.TrimLeft(s[len(q):], " \t"), err
}

func readOutcome(o *op, rest string) error {
	o.name, rest = cutWord(rest)
	switch o.name {
	case harness.OutcomeOK, harness.OutcomeError, harness.OutcomeTimeout, harness.OutcomeDenied, harness.OutcomeArtifact:
	default:
		return fmt.Errorf("unknown outcome %q", o.name)
	}
	if word, after := cutWord(rest); word != "" {
		if d, err := time.ParseDuration(word); err == nil && d > 0 {
			o.wait, rest = d, after
		}
	}
	return readMaybeText(o, rest)
}
