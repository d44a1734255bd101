package schema

import (
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// maxPatterns bounds what all patterns of a schema come to, in instructions and
// characters of classes: a{1000} is a thousand, and so is \pL.
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
	if len(expr) > maxPatterns/4 {
		c.fail("pattern is longer than %d bytes", maxPatterns/4)
		return nil
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		c.fail("pattern: %v", err)
		return nil
	}
	size, runes := weigh(tree)
	if c.size += size + runes; c.size > maxPatterns {
		c.fail("its patterns come to more than %d instructions and characters", maxPatterns)
		return nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		c.fail("pattern: %v", err)
		return nil
	}
	return &pattern{expr, re, size}
}

// weigh counts the instructions that a part of a regular expression comes to, and
// the characters of its classes; neither is more than one more than all may be.
func weigh(re *syntax.Regexp) (instructions, runes int) {
	instructions = 1
	if re.Op == syntax.OpLiteral {
		instructions = len(re.Rune)
	} else {
		runes = len(re.Rune)
	}
	for _, sub := range re.Sub {
		i, r := weigh(sub)
		instructions, runes = instructions+i, runes+r
	}
	if re.Op == syntax.OpRepeat {
		instructions *= max(re.Min, re.Max) + 1
	}
	return min(instructions, maxPatterns+1), min(runes, maxPatterns+1)
}

// matches looks for a pattern; what that takes grows with both, and it takes
// something to find one in nothing.
func (l *look) matches(p *pattern, s string) bool {
	return l.spend(1+p.size/16+len(s)*p.size/64) && p.re.MatchString(s)
}
