package main

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// question is an approval that somebody must give or refuse.
type question struct {
	id, thread, call, tool, text, reason string
	input                                json.RawMessage
	always                               bool // "always" is an answer
}

// ask shows all of a question: nobody should agree to what was cut away.
func (t *transcript) ask(q question) {
	if slices.ContainsFunc(t.asked, func(o question) bool { return o.id == q.id }) {
		return
	}
	t.asked = append(t.asked, q)
	t.turn(toolBlock)
	t.write(yellow, "? ")
	t.write(bold, q.tool)
	t.indent = 4
	if q.text != "" {
		t.write(normal, "  "+strings.TrimSpace(q.text))
	}
	for _, line := range details(q.input) {
		t.write(normal, "\n")
		t.pad(4)
		for _, p := range line {
			t.write(p.style, p.text)
		}
	}
	if q.reason != "" {
		t.write(normal, "\n")
		t.pad(4)
		t.write(dim, strings.TrimSpace(q.reason))
	}
	t.indent = 0
	t.write(normal, "\n")
}

// pad indents a line where the screen does not do it.
func (t *transcript) pad(n int) {
	if t.col < n {
		t.write(normal, strings.Repeat(" ", n-t.col))
	}
}

// answered says what became of a question. Its call, if it may, begins now.
func (t *transcript) answered(id, reply, by string, now time.Time) {
	i := slices.IndexFunc(t.asked, func(q question) bool { return q.id == id })
	if i < 0 {
		return
	}
	if r := t.tool(t.asked[i].call); r != nil {
		r.began = now
	}
	t.asked = slices.Delete(t.asked, i, i+1)
	t.turn(toolBlock)
	said := map[string]piece{"once": {green, "allowed"}, "always": {green, "allowed from now on"}, "reject": {red, "rejected"},
		"elsewhere": {dim, "answered elsewhere"}, "withdrawn": {dim, "no longer asked"}}[reply]
	st, text := said.style, said.text
	if by != "" {
		text += " " + by
	}
	t.row(row{{normal, "  "}, {st, "→ " + text}})
}

// keys says how to answer.
func (q question) keys() row {
	r := row{{normal, "  "}, {bold, "y"}, {normal, " allow once  "}}
	if q.always {
		r = append(r, piece{bold, "a"}, piece{normal, " always  "})
	}
	return append(r, piece{bold, "n"}, piece{normal, " reject"})
}

// reply is the answer that a key stands for.
func (q question) reply(key rune) (string, bool) {
	switch {
	case key == 'y' || key == 'Y':
		return "once", true
	case key == 'n' || key == 'N':
		return "reject", true
	case (key == 'a' || key == 'A') && q.always:
		return "always", true
	}
	return "", false
}
