package script

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"harness"
)

// Script is a parsed script. It never changes.
type Script struct {
	parts []part
}

// part is what one turn plays.
type part struct {
	title string
	ops   []op
}

// op is one command. Blocks are flat: control falls through to the next op
// unless an op jumps.
type op struct {
	verb    string
	line    int // in the source, from 1
	depth   int // blocks around it, for printing
	loops   int // repeats around it
	implied bool
	chained bool // a when that continues an else

	text   string
	given  bool // text was given
	name   string
	id     harness.CallID
	json   json.RawMessage
	access harness.Access
	reason string
	about  string
	words  []string
	n, m   int64
	cost   *float64
	wait   time.Duration

	jump int // where control goes instead of to the next op
	call int // the op that opened the call this one is about
}

//go:embed default.script
var defaultText string

//go:embed demo.script
var demoText string

// Demo is the script that a server plays which has no engine: words in the
// prompt choose what it shows.
func Demo() *Script { return must(demoText) }

// DemoWords are the words that [Demo] knows, one for each thing it shows.
func DemoWords() (words []string) {
	for _, p := range Demo().parts {
		for _, o := range p.ops {
			if o.verb == "when" {
				words = append(words, o.words[0])
			}
		}
	}
	return words
}

func must(src string) *Script {
	s, err := Parse(src)
	if err != nil {
		panic("script: built-in script: " + err.Error())
	}
	return s
}

// String is the script in its plainest form, without comments. Parsing it
// gives a script that plays the same and prints the same.
func (s *Script) String() string {
	var b strings.Builder
	for i, p := range s.parts {
		if i > 0 {
			b.WriteString(strings.TrimRight("=== "+p.title, " ") + "\n")
		}
		for j, o := range p.ops {
			if o.implied || o.chained {
				continue
			}
			line := o.String()
			if o.verb == "else" && j+1 < len(p.ops) && p.ops[j+1].chained {
				line += " " + p.ops[j+1].String()
			}
			b.WriteString(strings.Repeat("  ", o.depth) + line + "\n")
		}
	}
	return b.String()
}

// String is the command as a line without its indent.
func (o op) String() string {
	f := []string{o.verb}
	add := func(format string, args ...any) { f = append(f, fmt.Sprintf(format, args...)) }
	switch o.verb {
	case "call", "tool", "ask":
		add("%s", o.name)
		if o.id != "" {
			add("%s", o.id)
		}
		add("%s", o.json)
		if o.access != "" {
			add("access=%s", o.access)
		}
		if o.reason != "" {
			add("reason=%s", strconv.Quote(o.reason))
		}
		if o.about != "" {
			add("%s", strconv.Quote(o.about))
		}
		if o.given {
			add("=> %s", strconv.Quote(o.text))
		}
		return strings.Join(f, " ")
	case "emit":
		add("%s %s", o.name, o.json)
	case "gate":
		add("%s", o.name)
	case "outcome":
		add("%s", o.name)
		if o.wait > 0 {
			add("%s", o.wait)
		}
	case "pace", "wait":
		add("%s", o.wait)
	case "stream":
		add("%d %s", o.n, o.wait)
	case "usage":
		add("%d %d", o.n, o.m)
		if o.cost != nil {
			add("%s", strconv.FormatFloat(*o.cost, 'g', -1, 64))
		}
	case "step":
		add("%d/%d %s %s", o.n, o.m, strconv.Quote(o.text), o.name)
		return strings.Join(f, " ")
	case "repeat":
		add("%d", o.n)
	case "when":
		add("%s", strings.Join(o.words, " "))
	}
	if o.given {
		add("%s", strconv.Quote(o.text))
	}
	return strings.Join(f, " ")
}
