package schema

import (
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// maxPatterns bounds what all patterns of a schema come to, in instructions:
// a{1000} is a thousand.
const maxPatterns = 100_000

// texts are the keywords about strings.
type texts struct {
	least, most *count
	pattern     *pattern
}

func (r reader) texts() *texts {
	t := &texts{least: r.count("minLength"), most: r.count("maxLength")}
	if expr := r.text("pattern"); expr != "" {
		t.pattern = r.c.pattern(expr)
	}
	if *t == (texts{}) {
		return nil
	}
	return t
}

func (l *look) text(rules *texts, v string) {
	if (rules.least != nil || rules.most != nil) && l.spend(1+len(v)/256) {
		l.count("Length", utf8.RuneCountInString(v), rules.least, rules.most)
	}
	if rules.pattern != nil && !l.matches(rules.pattern, v) && l.fails() {
		l.say("%s does not match pattern %s", quoted(v), quoted(rules.pattern.text))
	}
}

// count looks whether there are neither too few nor too many of something.
func (l *look) count(of string, n int, least, most *count) {
	if least != nil && n < least.n && l.fails() {
		l.say("min%s: got %d, want %s", of, n, least.text)
	}
	if most != nil && n > most.n && l.fails() {
		l.say("max%s: got %d, want %s", of, n, most.text)
	}
}

// pattern is a regular expression, of RE2, and what it comes to.
type pattern struct {
	text string
	re   *regexp.Regexp
	size int
}

func (c *compiler) pattern(expr string) *pattern {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		c.fail("pattern: %w", err)
		return nil
	}
	p := &pattern{text: expr, size: instructions(tree)}
	if c.size += p.size; c.size > maxPatterns {
		c.fail("its patterns come to more than %d instructions", maxPatterns)
		return nil
	}
	p.re, err = regexp.Compile(expr)
	if err != nil {
		c.fail("pattern: %w", err)
		return nil
	}
	return p
}

// instructions is how many a part of a regular expression comes to, and no more
// than one more than all may.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max) + 1
	}
	return min(n, maxPatterns+1)
}

// matches looks for a pattern; what that takes grows with both.
func (l *look) matches(p *pattern, s string) bool {
	return l.spend(1+len(s)/64*p.size+len(s)%64*p.size/64) && p.re.MatchString(s)
}
