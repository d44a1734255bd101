package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Script is what a Server answers.
type Script struct{ rules []rule }

type rule struct {
	line  int
	holds []condition // all of them
	lines []line
}

// line is one thing an answer does.
type line struct {
	verb string
	text string // what to say, arguments of a call, name of a gate
	name string // of a tool, a header, an error
	id   string
	n    int
	wait time.Duration
	use  map[string]int64
}

// Parse reads a script.
func Parse(src string) (*Script, error) {
	s := &Script{}
	for i, text := range strings.Split(src, "\n") {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(text, " ")
		rest = strings.TrimSpace(rest)
		var err error
		switch {
		case verb == "when":
			var holds []condition
			holds, err = parseConditions(rest)
			s.rules = append(s.rules, rule{line: i + 1, holds: holds})
		case verb == "else":
			s.rules = append(s.rules, rule{line: i + 1})
		default:
			if len(s.rules) == 0 { // a script without rules is one answer to everything
				s.rules = append(s.rules, rule{line: i + 1})
			}
			var l line
			l, err = parseLine(verb, rest)
			last := &s.rules[len(s.rules)-1]
			last.lines = append(last.lines, l)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", i+1, text, err)
		}
	}
	return s, nil
}

// plain takes a text as it is, or as a Go string if it is quoted.
func plain(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	return strconv.Unquote(s)
}

func parseLine(verb, rest string) (l line, err error) {
	l.verb = verb
	switch verb {
	case "say", "think", "raw":
		l.text, err = plain(rest)
	case "redact", "pause":
		l.text = rest
	case "call":
		return parseCall(l, rest)
	case "part":
		l.name, rest, _ = strings.Cut(rest, " ")
		l.text, err = plain(rest)
	case "usage":
		return parseUsage(l, rest)
	case "stop":
		l.name = rest
		if !slices.Contains([]string{"end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn"}, rest) {
			err = fmt.Errorf("no such reason")
		}
	case "slow":
		if rest != "" {
			l.wait, err = time.ParseDuration(rest)
		}
	case "error":
		l.name, l.text, _ = strings.Cut(rest, " ")
	case "header":
		var ok bool
		if l.name, l.text, ok = strings.Cut(rest, ": "); !ok {
			err = fmt.Errorf("want NAME: VALUE")
		}
	case "type":
		l.verb, l.name, l.text = "header", "Content-Type", rest
	case "status":
		var code string
		code, l.text, _ = strings.Cut(rest, " ")
		l.n, err = strconv.Atoi(code)
	case "garbage":
		l.verb, l.text = "raw", "\x00\xff\xfe<html>\r\ndata: {\"type\":\ndata \x80\n\n"
	case "ping", "drop", "end":
	default:
		err = fmt.Errorf("no such verb")
	}
	return l, err
}

func parseCall(l line, rest string) (line, error) {
	var args string
	l.name, args, _ = strings.Cut(rest, " ")
	if id, ok := strings.CutPrefix(args, "id="); ok {
		l.id, args, _ = strings.Cut(id, " ")
	}
	if l.text = strings.TrimSpace(args); l.text == "" {
		l.text = "{}"
	}
	if !json.Valid([]byte(l.text)) {
		return l, fmt.Errorf("arguments are not JSON; part sends such")
	}
	return l, nil
}

func parseUsage(l line, rest string) (line, error) {
	l.use = map[string]int64{}
	for _, f := range strings.Fields(rest) {
		k, v, _ := strings.Cut(f, "=")
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || !slices.Contains([]string{"in", "out", "cached", "written", "reasoning"}, k) {
			return l, fmt.Errorf("%s is not a count", f)
		}
		l.use[k] = n
	}
	return l, nil
}
