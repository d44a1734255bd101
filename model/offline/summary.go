package offline

import (
	"fmt"
	"strings"

	"harness/model"
)

// summary is what happened in a conversation before somebody asked for it: what
// was wanted, what was done and what came of it, and where it stands.
func summary(messages []model.Message) string {
	if n := len(messages); n > 0 && messages[n-1].Role == model.User {
		messages = messages[:n-1] // the request for the summary
	}
	results := map[string]model.Part{}
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Kind == model.PartResult {
				results[p.ID] = p
			}
		}
	}
	var b strings.Builder
	b.WriteString("What happened so far:\n")
	last := ""
	for i := range messages {
		m := &messages[i]
		text := said(m.Parts)
		if m.Role == model.User && text != "" {
			fmt.Fprintf(&b, "- The user asked: %s\n", line(text, 300))
		}
		if m.Role == model.Assistant && text != "" {
			last = text
		}
		for _, p := range m.Parts {
			if p.Kind != model.PartCall {
				continue
			}
			fmt.Fprintf(&b, "  - called %s with %s", p.Name, line(p.Args, 200))
			switch r, ok := results[p.ID]; {
			case !ok:
				b.WriteString("; no result came")
			case r.IsError:
				fmt.Fprintf(&b, "; it failed: %s", line(model.Plain(r.Parts), 200))
			default:
				fmt.Fprintf(&b, "; it returned: %s", line(model.Plain(r.Parts), 200))
			}
			b.WriteString("\n")
		}
	}
	if last != "" {
		fmt.Fprintf(&b, "The last answer was: %s\n", line(last, 400))
	}
	return strings.TrimSpace(b.String())
}

// line is the beginning of a text, on one line.
func line(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	if text == "" {
		return "nothing"
	}
	return text
}
