package modeltest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// condition is something that holds for a request or not.
type condition struct {
	what string
	text string
	n    int
}

func parseConditions(s string) (all []condition, err error) {
	for s != "" {
		var c condition
		c.what, s, _ = strings.Cut(s, " ")
		var value string
		switch {
		case c.what == "always":
			value, s = "", strings.TrimPrefix(s, "and ")
		case strings.HasPrefix(s, `"`):
			quoted, err := strconv.QuotedPrefix(s)
			if err != nil {
				return nil, err
			}
			if value, err = strconv.Unquote(quoted); err != nil {
				return nil, err
			}
			s = strings.TrimPrefix(strings.TrimSpace(s[len(quoted):]), "and ")
		default:
			value, s, _ = strings.Cut(s, " and ")
		}
		switch c.what {
		case "turn", "step", "request":
			if c.n, err = strconv.Atoi(value); err != nil {
				return nil, err
			}
		case "user", "result", "model", "tool":
			c.text = value
		case "always":
		default:
			return nil, fmt.Errorf("no such condition: %s", c.what)
		}
		all = append(all, c)
	}
	return all, nil
}

func (c *condition) holds(r *Request) bool {
	has := func(s string) bool { return strings.Contains(s, c.text) }
	switch c.what {
	case "turn":
		return r.Turn == c.n
	case "step":
		return r.Step == c.n
	case "request":
		return r.N == c.n
	case "user":
		return slices.ContainsFunc(r.Said, has)
	case "result":
		return slices.ContainsFunc(r.Results, has)
	case "model":
		return has(r.Model)
	case "tool":
		return slices.Contains(r.Tools, c.text)
	}
	return true // always
}

// answer finds the rule for r.
func (s *Script) answer(r *Request) *rule {
	for i := range s.rules {
		if !slices.ContainsFunc(s.rules[i].holds, func(c condition) bool { return !c.holds(r) }) {
			return &s.rules[i]
		}
	}
	return nil
}
