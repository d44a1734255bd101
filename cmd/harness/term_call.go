package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// headline are the fields that say what a call is about, the best first: one of
// them is the call for people. The names are those of our tools and of other
// agents'.
var headline = []string{"command", "cmd", "path", "file_path", "notebook_path", "pattern", "query", "url", "question", "description", "prompt", "text", "id"}

// body are fields that are as long as files: they are shown below a call, or
// when it is asked about, and never on its line.
var body = []string{"content", "old_string", "new_string", "edits", "diff", "patch", "file_text", "items", "todos", "steps"}

// gist is the input of a call on one line: what it is about, and its small
// fields by name.
func gist(input json.RawMessage) string {
	const most = 100
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		var b bytes.Buffer
		if json.Compact(&b, input) != nil {
			return ""
		}
		return clean(b.String(), most)
	}
	names := inOrder(input, fields)
	var parts []string
	main := slices.IndexFunc(headline, func(n string) bool { return isText(fields[n]) })
	switch {
	case main >= 0:
		parts = append(parts, plainValue(fields[headline[main]]))
	case len(names) == 1 && isText(fields[names[0]]):
		return clean(plainValue(fields[names[0]]), most)
	}
	for _, name := range names {
		if main >= 0 && name == headline[main] || slices.Contains(body, name) {
			continue
		}
		value := plainValue(fields[name])
		if strings.ContainsAny(value, " \n\t") && isText(fields[name]) {
			value = string(fields[name])
		}
		if len(value) <= 40 {
			parts = append(parts, name+"="+value)
		}
	}
	return clean(strings.Join(parts, " "), most)
}

func isText(raw json.RawMessage) bool { return len(raw) > 2 && raw[0] == '"' }

// plainValue is a text as it is, and anything else as JSON.
func plainValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// altered is what an edit takes out of a file and puts in, a line each; nothing
// if the call is none.
func altered(input json.RawMessage) (rows []row) {
	var in struct {
		Old   *string `json:"old_string"`
		New   *string `json:"new_string"`
		Diff  string
		Edits []json.RawMessage
	}
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	for _, e := range in.Edits {
		rows = append(rows, altered(e)...)
	}
	if in.Old != nil && in.New != nil {
		for _, l := range textLines(*in.Old) {
			rows = append(rows, row{{red, "- " + l}})
		}
		for _, l := range textLines(*in.New) {
			rows = append(rows, row{{green, "+ " + l}})
		}
	}
	for _, l := range textLines(in.Diff) {
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
		case strings.HasPrefix(l, "+"):
			rows = append(rows, row{{green, l}})
		case strings.HasPrefix(l, "-"):
			rows = append(rows, row{{red, l}})
		}
	}
	return rows
}

func textLines(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// details is a call's input, a line for each field and all of it. An edit is
// told as what goes and what comes.
func details(input json.RawMessage) (rows []row) {
	if len(input) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return []row{{{normal, string(input)}}}
	}
	diff := altered(input)
	names := inOrder(input, fields)
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range names {
		if len(diff) > 0 && slices.Contains([]string{"old_string", "new_string", "edits", "diff"}, name) {
			continue
		}
		for _, line := range strings.Split(name+": "+strings.TrimRight(plainValue(fields[name]), "\n"), "\n") {
			rows = append(rows, row{{normal, line}})
		}
	}
	return append(rows, diff...)
}

// rank puts what a call is about first, and what is long last.
func rank(name string) int {
	if i := slices.Index(headline, name); i >= 0 {
		return i - len(headline)
	}
	if i := slices.Index(body, name); i >= 0 {
		return 1 + i
	}
	return 0
}

// inOrder are the names of the fields as they were written.
func inOrder(input json.RawMessage, fields map[string]json.RawMessage) (names []string) {
	dec := json.NewDecoder(bytes.NewReader(input))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		var skip json.RawMessage
		if err != nil || dec.Decode(&skip) != nil {
			return names
		}
		if s, ok := name.(string); ok && fields[s] != nil && !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	return names
}
