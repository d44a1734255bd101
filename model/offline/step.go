package offline

import (
	"fmt"
	"strings"

	"harness/model"
)

// kind is what a step does.
type kind int

const (
	unknown kind = iota // of text: what was not understood

	// These call a tool.
	run      // text: a shell command
	read     // path
	write    // path, text
	edit     // path, old, text
	grep     // text, path
	glob     // text: a pattern, path
	fetch    // text: a URL
	delegate // text
	todo     // items
	ask      // text: a question
	remember // text

	// These only speak.
	say       // text
	think     // text
	tell      // about the last result
	count     // from, to
	fail      // fault, text
	intro     // who we are
	summarise // the conversation
	halt
)

// step is one thing to do.
type step struct {
	kind     kind
	text     string
	path     string // also of a command: the file it changes
	old      string
	items    []string
	from, to int
	fault    model.Fault
	together bool   // with the step before it, at the same time
	again    bool   // it failed before, for want of what was done since
	quiet    bool   // nothing is to be said about it afterwards
	all      bool   // an edit of every place
	brief    bool   // a file is told in short
	label    string // what a command is called, if it is long
}

// acts reports whether the step calls a tool.
func (s *step) acts() bool { return s.kind >= run && s.kind <= remember }

// maxRequest bounds what is read of a request.
const maxRequest = 64 << 10

// parse reads a request into steps.
func parse(text string) (steps []step) {
	if len(text) > maxRequest {
		return []step{{kind: unknown, text: "a request of more than 64 kB"}}
	}
	m := mask(text)
	p := parser{masked: m}
	for _, c := range clauses(m.text) {
		p.clause(c)
	}
	return p.steps
}

// parser remembers what "it" is.
type parser struct {
	masked
	steps []step
	file  string // written or read last
	here  string // "in a.txt, …"
}

func (p *parser) add(s ...step) {
	for _, one := range s {
		if one.path != "" && one.kind != grep && one.kind != glob {
			p.file = one.path
		}
		p.steps = append(p.steps, one)
	}
}

func (p *parser) clause(c string) {
	c, together := cutParallel(c)
	c, times := cutTimes(c)
	made := p.match(c)
	if made == nil {
		made = []step{{kind: unknown, text: p.bare(c)}}
	}
	for i := range made {
		made[i].together = together && i > 0
	}
	for range times {
		p.add(made...)
		if times > 2 && len(made) == 1 && made[0].kind == run { // the same call again and again looks like going in circles
			last := &p.steps[len(p.steps)-1]
			last.text = fmt.Sprintf("for _ in $(seq %d); do (\n%s\n) done", times, last.text)
			return
		}
	}
}

func (p *parser) match(c string) []step {
	for _, table := range [][]rule{changes(), questions(), rules()} {
		for _, r := range table {
			if m := r.form().FindStringSubmatch(c); m != nil {
				if made := r.make(p, m); made != nil {
					return made
				}
			}
		}
	}
	if l, ok := p.literal(c); ok { // nothing but a command
		return []step{{kind: run, text: l}}
	}
	return nil
}

// name is the name of a file: a literal, or a word without its punctuation.
func (p *parser) name(s string) string {
	return strings.Trim(p.bare(s), " ,;:\"'")
}
