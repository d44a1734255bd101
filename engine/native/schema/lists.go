package schema

import (
	"fmt"
	"strings"
)

// lists are the keywords about arrays.
type lists struct {
	least, most               *count
	first                     []*shape
	rest                      *shape
	unique                    bool
	contains                  *shape
	leastContain, mostContain *count
}

func (r reader) lists() *lists {
	l := &lists{least: r.count("minItems"), most: r.count("maxItems"), unique: r.bool("uniqueItems"), contains: r.one("contains"),
		leastContain: r.count("minContains"), mostContain: r.count("maxContains")}
	if _, list := r.doc["items"].([]any); list { // as it was before 2020-12
		l.first, l.rest = r.many("items"), r.one("additionalItems")
	} else {
		l.first, l.rest = r.many("prefixItems"), r.one("items")
		r.one("additionalItems")
	}
	if l.least == nil && l.most == nil && l.first == nil && l.rest == nil && !l.unique && l.contains == nil {
		return nil
	}
	return l
}

func (l *look) list(rules *lists) {
	below := l.v.below
	l.count("Items", len(below), rules.least, rules.most)
	if rules.unique {
		l.unique(below)
	}
	first := min(len(rules.first), len(below))
	for i := 0; i < first && !l.over(); i++ {
		l.below(rules.first[i], i)
	}
	for i := first; rules.rest != nil && i < len(below) && !l.over(); i++ {
		l.below(rules.rest, i)
	}
	if rules.contains != nil && !l.over() {
		l.contains(rules)
	}
}

// unique looks for two that are the same.
func (l *look) unique(below []item) {
	if len(below) < 2 {
		return
	}
	places := make(map[string]int, len(below))
	for i := range below {
		text := l.written(&below[i])
		if l.out {
			return
		}
		if before, ok := places[string(text)]; ok {
			if l.fails() {
				l.say("items at %d and %d are equal", before, i)
			}
			return
		}
		places[string(text)] = i
	}
}

// contains counts those that fit a schema.
func (l *look) contains(rules *lists) {
	var at []int
	for i := range l.v.below {
		if l.out {
			return
		}
		if ok, _ := l.fits(rules.contains, &l.v.below[i]); ok {
			at = append(at, i)
			l.seen.mark(l.run, i, len(l.v.below))
		}
	}
	least, most := rules.leastContain, rules.mostContain
	switch {
	case least == nil && len(at) == 0:
		if l.fails() {
			l.say("no items match contains schema")
		}
	case least != nil && len(at) < least.n:
		if l.fails() {
			l.say("min %s items required to match contains schema, but %s", least.text, matched(at))
		}
	}
	if most != nil && len(at) > most.n && l.fails() {
		l.say("max %s items required to match contains schema, but %s", most.text, matched(at))
	}
}

func matched(at []int) string {
	if len(at) == 0 {
		return "none matched"
	}
	return fmt.Sprintf("matched %d items at %s", len(at), strings.Trim(fmt.Sprint(at[:min(len(at), maxProblem)]), "[]"))
}
