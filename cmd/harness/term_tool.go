package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"harness"
)

// logLines is how much of a tool's output is shown: enough to see what it does.
const logLines = 3

// toolRun is a call that is under way.
type toolRun struct {
	id, name string
	input    json.RawMessage
	began    time.Time
	log      []string // its last lines
	open     bool     // the last one has not ended
	skipped  int      // lines before them
}

// toolBegins shows a call below what stays, until toolEnds.
func (t *transcript) toolBegins(id, name string, input json.RawMessage, now time.Time) {
	if t.tool(id) == nil {
		t.tools = append(t.tools, &toolRun{id: id, name: name, input: input, began: now})
	}
}

func (t *transcript) tool(id string) *toolRun {
	if i := slices.IndexFunc(t.tools, func(r *toolRun) bool { return r.id == id }); i >= 0 {
		return t.tools[i]
	}
	return nil
}

// toolSays adds to the output of a call.
func (t *transcript) toolSays(id, text string) {
	r := t.tool(id)
	if r == nil || text == "" {
		return
	}
	for line := range strings.Lines(text) {
		whole := strings.HasSuffix(line, "\n")
		line = strings.TrimRight(line, "\r\n")
		if r.open {
			r.log[len(r.log)-1] += line
		} else {
			r.log = append(r.log, line)
		}
		r.open = !whole
		if over := len(r.log) - logLines; over > 0 {
			r.log = slices.Delete(r.log, 0, over)
			r.skipped += over
		}
		if last := &r.log[len(r.log)-1]; len(*last) > maxLogLine {
			*last = (*last)[len(*last)-maxLogLine:]
		}
	}
}

// maxLogLine bounds the memory for a line that never ends.
const maxLogLine = 4 << 10

// toolEnds moves a call to what stays.
func (t *transcript) toolEnds(id, status, output, failure string, took time.Duration) {
	r := t.tool(id)
	if r == nil {
		return
	}
	t.tools = slices.DeleteFunc(t.tools, func(o *toolRun) bool { return o == r })
	t.turn(toolBlock)
	mark, st := "✓ ", green
	if status != harness.OutcomeOK && status != harness.OutcomeArtifact && status != "complete" {
		mark, st = "✗ ", red
	}
	first := append(row{{st, mark}}, r.title()...)
	if took >= 0 {
		first = append(first, piece{dim, "  " + elapsed(took)})
	}
	t.row(first)
	if diff := r.change(); st == green && len(diff) > 0 {
		for _, l := range diff {
			t.row(l)
		}
		output, _, _ = strings.Cut(output, ";") // the rest is how the file reads now
	}
	if output != "" {
		r.log, r.open, r.skipped = nil, false, 0
		t.tools = append(t.tools, r)
		t.toolSays(id, strings.TrimRight(output, "\n"))
		t.tools = t.tools[:len(t.tools)-1]
	}
	for _, l := range r.lines() {
		t.row(l)
	}
	if failure == "" && st == red && status != harness.OutcomeError {
		failure = status
	}
	if failure != "" {
		t.row(row{{normal, "  "}, {red, strings.TrimSpace(failure)}})
	}
}

func (r *toolRun) title() row {
	title := row{{bold, r.name}}
	if g := gist(r.input); g != "" {
		title = append(title, piece{normal, " " + g})
	}
	return title
}

// change is the beginning of what the call changed.
func (r *toolRun) change() (rows []row) {
	all := altered(r.input)
	for i, l := range all {
		if i == changeLines {
			return append(rows, row{{dim, fmt.Sprintf("  … %s more", counted(len(all)-i, "line"))}})
		}
		rows = append(rows, append(row{{normal, "  "}}, l...))
	}
	return rows
}

// changeLines is how much of a change is shown: enough to recognise it.
const changeLines = 6

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *toolRun) live(frame string, now time.Time) []row {
	first := append(row{{yellow, frame + " "}}, r.title()...)
	return append([]row{append(first, piece{dim, "  " + elapsed(now.Sub(r.began))})}, r.lines()...)
}

func (r *toolRun) lines() (rows []row) {
	if r.skipped > 0 {
		lines := "lines"
		if r.skipped == 1 {
			lines = "line"
		}
		rows = append(rows, row{{dim, fmt.Sprintf("  … %d more %s", r.skipped, lines)}})
	}
	for _, l := range r.log {
		l = l[strings.LastIndexByte(l, '\r')+1:] // a progress bar draws over itself
		rows = append(rows, row{{dim, strings.TrimRight("  "+l, " ")}})
	}
	return rows
}
