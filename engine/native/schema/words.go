package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// words are what is wrong with a value: what is told of it, and what could be
// mended.
type words struct {
	told  []string // each once
	wants []problem
	heard map[pair]bool // what was explained before
}

// problem is a value that has another type than it should.
type problem struct {
	at   *item
	want []string
}

// first reports whether a pair was not explained yet.
func (w *words) first(p pair) bool {
	before := w.heard[p]
	w.heard[p] = true
	return !before
}

// fails takes down that the value does not fit, and reports whether somebody
// wants to hear why.
func (l *look) fails() bool {
	l.ok = false
	return l.words != nil && len(l.words.told) < maxProblems
}

// say tells what is wrong with the value.
func (l *look) say(format string, args ...any) {
	where, depth := l.v.where()
	text := cut(where+": "+fmt.Sprintf(format, args...), maxProblem)
	if !slices.Contains(l.words.told, text) {
		l.words.told = append(l.words.told, text)
	}
	l.spend(4 + depth/16)
}

// wants says that the value has the wrong type.
func (l *look) wants(t *types) {
	if l.fails() {
		l.say("got %s, want %s", typeOf(l.v.raw), t.words)
	}
	if l.words != nil {
		l.words.wants = append(l.words.wants, problem{l.v, t.names})
	}
}

// oneOf are the values of an enum, as far as a problem tells them.
func oneOf(all []any) string {
	if len(all) == 1 {
		return show(all[0])
	}
	var b strings.Builder
	b.WriteString("one of ")
	for i, v := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(show(v))
		if b.Len() > maxProblem {
			break
		}
	}
	return b.String()
}

func show(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case nil:
		return "null"
	case bool, json.Number:
		return head(fmt.Sprint(v))
	}
	raw, _ := json.Marshal(v) // it came from JSON
	return head(string(raw))
}

// quoted are names in quotation marks, with commas between them, as far as a
// problem tells them.
func quoted(all ...string) string {
	var b strings.Builder
	for i, s := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		s = strings.ReplaceAll(fmt.Sprintf("%q", head(s)), `\"`, `"`)
		b.WriteString("'" + strings.ReplaceAll(s[1:len(s)-1], `'`, `\'`) + "'")
		if b.Len() > maxProblem {
			break
		}
	}
	return b.String()
}

// head is as much of a text as a problem can tell of it.
func head(s string) string {
	if len(s) <= maxProblem {
		return s
	}
	return strings.ToValidUTF8(s[:maxProblem], "")
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
