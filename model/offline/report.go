package offline

import (
	"fmt"
	"strings"

	"harness/internal/lazy"
	"harness/model"
)

const introduction = `I am the offline stand-in of Harness: a few rules, not a language model. I can do plain things with real tools, one step after the other:

- run ` + "`ls -la`" + `, run it, run ` + "`a` and `b`" + ` in parallel
- read notes.txt, list the files, find *.go, search for TODO in src
- write ` + "`echo hi`" + ` to hello.sh, append "x" to notes.txt, replace "a" with "b" in notes.txt, delete old.txt
- think about something, say something, count to 100, wait 5 seconds
- ask me something, delegate something, remember something, plan: one, two, three
- fetch https://…, fail, fail with a rate limit

Join steps with "then", "and" or new lines, and end with "tell me what it printed". For anything that needs understanding, start Harness with a key: $ANTHROPIC_API_KEY or $OPENAI_API_KEY, or --model and --key.`

// announce says what a step is about to do.
func (s *step) announce() string {
	switch s.kind {
	case run:
		return "I will run " + s.called() + "."
	case read:
		return "I will read " + code(s.path) + "."
	case write:
		return "I will write " + code(s.path) + "."
	case edit:
		return "I will edit " + code(s.path) + "."
	case grep:
		return "I will search for " + code(s.text) + "."
	case glob:
		return "I will look for files."
	case fetch:
		return "I will fetch " + s.text + "."
	case delegate:
		return "I will delegate this: " + s.text
	case todo:
		return "I will write down the plan."
	case ask:
		return "I have a question."
	case remember:
		return "I will remember that."
	}
	return ""
}

// noOutput is how a shell tool says that there was nothing to see.
var noOutput = lazy.Regexp{Expr: `^\[no output, exit code 0\]\s*$`}

// done says what a step did, with what came out of it.
func (s *step) done(result model.Part) string {
	out := noOutput.Get().ReplaceAllString(model.Plain(result.Parts), "")
	if result.IsError {
		return s.tried() + " failed:" + block(out)
	}
	switch s.kind {
	case run:
		if strings.TrimSpace(out) == "" {
			return "I ran " + s.called() + ". It printed nothing."
		}
		return "I ran " + s.called() + ". It printed:" + block(out)
	case read:
		if s.brief {
			return inShort(s.path, out)
		}
		return "This is in " + code(s.path) + ":" + block(out)
	case write:
		return "I wrote " + code(s.path) + "."
	case edit:
		return "I edited " + code(s.path) + "."
	case grep:
		return "The search for " + code(s.text) + " found:" + block(out)
	case glob:
		return "These are the files:" + block(out)
	case fetch:
		return s.text + " says:" + block(out)
	case delegate:
		return "The delegated work came back with:" + block(out)
	case todo:
		return "I wrote down the plan."
	case ask:
		return "You answered: " + strings.TrimSpace(out)
	case remember:
		return "I will remember it."
	}
	return ""
}

// called is what a command is called.
func (s *step) called() string {
	if s.label != "" {
		return s.label
	}
	return code(s.text)
}

// tried names a step that failed.
func (s *step) tried() string {
	switch s.kind {
	case run:
		return "Running " + s.called()
	case read:
		return "Reading " + code(s.path)
	case write:
		return "Writing " + code(s.path)
	case edit:
		return "Editing " + code(s.path)
	case grep, glob:
		return "The search"
	case fetch:
		return "Fetching " + s.text
	case delegate:
		return "The delegated work"
	case ask:
		return "The question"
	}
	return "That"
}

// want names a step that was not done.
func (s *step) want() string {
	a := strings.TrimSuffix(s.announce(), ".")
	if rest, ok := strings.CutPrefix(a, "I will "); ok {
		return rest
	}
	return s.text
}

func code(s string) string {
	if strings.ContainsAny(s, "`\n") {
		return "“" + short(s) + "”"
	}
	return "`" + s + "`"
}

// maxQuote bounds what is repeated of a result.
const maxQuote = 2000

// block is output, set off from the words around it.
func block(s string) string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return " nothing."
	}
	note := ""
	if r := []rune(s); len(r) > maxQuote {
		note = fmt.Sprintf("\n(and %d characters more)", len(r)-maxQuote)
		s = string(r[:maxQuote])
	}
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return "\n\n" + fence + "\n" + s + "\n" + fence + note
}
