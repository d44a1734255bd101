package offline

import (
	"fmt"
	"strings"

	"harness/internal/lazy"
)

// numbered is what tools put before the lines of a file.
var numbered = lazy.Regexp{Expr: `(?m)^ *\d+(?:\t|→|: )`}

// headingsShown bounds the headings in a short account of a file.
const headingsShown = 8

// inShort says what can be said about a text without understanding it: how long
// it is, how it begins and ends, and its headings.
func inShort(path, text string) string {
	text = strings.TrimRight(numbered.Get().ReplaceAllString(text, ""), "\n")
	if strings.TrimSpace(text) == "" {
		return code(path) + " is empty."
	}
	lines := strings.Split(text, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "In short (I count, I do not understand): %s has %s and %s.", code(path), counted(len(lines), "line"), counted(len(strings.Fields(text)), "word"))
	var filled, headings []string
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			filled = append(filled, strings.TrimSpace(l))
		}
		if strings.HasPrefix(l, "#") && strings.HasPrefix(strings.TrimLeft(l, "#"), " ") && len(headings) < headingsShown {
			headings = append(headings, strings.TrimSpace(strings.TrimLeft(l, "#")))
		}
	}
	if len(headings) > 0 {
		b.WriteString(" Its headings: " + strings.Join(headings, "; ") + ".")
	}
	fmt.Fprintf(&b, " It begins with “%s”", short(filled[0]))
	if len(filled) > 1 {
		fmt.Fprintf(&b, " and ends with “%s”", short(filled[len(filled)-1]))
	}
	return b.String() + "."
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
