package native

import (
	"encoding/json"
	"fmt"
	"strings"

	"harness"
	"harness/tool"
)

// question is what people read of a call that asks them something.
func question(q tool.Question) string {
	var b strings.Builder
	b.WriteString(q.Text)
	for i, o := range q.Options {
		fmt.Fprintf(&b, "\n%d. %s", i+1, o.Label)
		if o.Description != "" {
			b.WriteString(" – " + o.Description)
		}
	}
	return b.String()
}

// answered is the decision about such a call as the answer to it.
func answered(d harness.Decision) tool.Result {
	text := ""
	switch {
	case d.Source == harness.ByPolicy:
		text = "Nobody was asked, because this session decides without people. Decide yourself, and say what you assumed."
	case d.Source == harness.ByTimeout:
		text = "Nobody answered in time. Decide yourself and say what you assumed, or stop here."
	case d.Reason != "":
		text = "The user answered: " + d.Reason
	case d.Verdict == harness.Allow:
		text = "The user answered yes."
	default:
		text = "The user answered no."
	}
	data, err := json.Marshal(map[string]string{"verdict": string(d.Verdict), "answer": d.Reason})
	if err != nil {
		panic("native: " + err.Error())
	}
	return tool.Result{Text: text, Data: data}
}
