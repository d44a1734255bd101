package codex

import (
	"cmp"
	"encoding/json"
	"strings"
)

// question is the request of a program that wants to know something.
const question = "item/tool/requestUserInput"

type asked struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Options  []struct {
		Label string `json:"label"`
	} `json:"options"`
}

// ask is what a person reads.
func ask(raw json.RawMessage) string {
	var all []asked
	_ = json.Unmarshal(raw, &all) // one that cannot be read asks nothing
	var lines []string
	for _, q := range all {
		line := q.Question
		for i, o := range q.Options {
			if i > 0 {
				line += " |"
			}
			line += " " + o.Label
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// unanswered is the answer of who allowed a question and said nothing.
const unanswered = "(no answer: decide yourself)"

// answers is what was said to the questions: one text for all, or an object with
// one for each, by its id or its words.
func answers(raw json.RawMessage, yes bool, said string) map[string]any {
	var all []asked
	_ = json.Unmarshal(raw, &all) // one that cannot be read gets no answer
	each := make(map[string]string)
	_ = json.Unmarshal([]byte(said), &each) // or it is one text
	out := make(map[string]any)
	for _, q := range all {
		text := cmp.Or(each[q.ID], each[q.Question], said, unanswered)
		if !yes {
			text = "(declined) " + said
		}
		out[q.ID] = map[string]any{"answers": []string{text}}
	}
	return out
}
