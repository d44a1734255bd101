package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// block is a kind of paragraph of a transcript.
type block int

const (
	noBlock block = iota
	saidBlock
	thoughtBlock
	toolBlock
	promptBlock
	noteBlock
)

// transcript shows a session to a person: what was said stays, and what is
// under way is below it. One goroutine owns it.
type transcript struct {
	*screen
	block block
	empty bool // the block has no text yet
	lines int  // line ends held back until more text follows

	began  time.Time // when the running turn began; zero between turns
	tools  []*toolRun
	asked  []question
	typed  []rune // what the person is writing
	typing bool   // there is somebody who may write
	hint   string // which keys do what
	note   string // a word about the last key
}

// spin is the spinner, a picture for each tick.
var spin = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// tick is the time between two pictures of the spinner.
const tick = 80 * time.Millisecond

// turn to a block of some kind: below an empty line, unless it is one more tool.
func (t *transcript) turn(b block) {
	if b == t.block && (b == saidBlock || b == thoughtBlock) {
		return
	}
	t.indent, t.lines = 0, 0
	if t.col > 0 {
		t.write(normal, "\n")
	}
	if t.block != noBlock && (b != t.block || b != toolBlock) {
		t.write(normal, "\n")
	}
	t.block, t.empty = b, true
}

// say adds streamed text: an answer, or thoughts about it. White space around
// it is the transcript's to set.
func (t *transcript) say(text string, thought bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	b, st := saidBlock, normal
	if thought {
		b, st = thoughtBlock, dim
	}
	if b != t.block || t.empty {
		text = strings.TrimLeft(text, "\n ")
	}
	if text == "" {
		return
	}
	t.turn(b)
	if t.empty && thought && !t.colours {
		t.write(normal, "thinking: ")
	}
	t.empty = false
	body := strings.TrimRight(text, "\n")
	if body != "" {
		t.write(st, strings.Repeat("\n", t.lines)+body)
		t.lines = 0
	}
	t.lines += len(text) - len(body)
}

// prompt adds what a person said.
func (t *transcript) prompt(text string) {
	t.turn(promptBlock)
	t.write(cyan, "› ")
	t.indent = 2
	t.write(bold, strings.TrimSpace(text))
	t.indent = 0
	t.write(normal, "\n")
}

// remark adds a line about the session.
func (t *transcript) remark(st style, text string) {
	t.turn(noteBlock)
	t.write(st, text)
	t.write(normal, "\n")
}

// begin and end frame a turn.
func (t *transcript) begin(now time.Time) {
	if t.began.IsZero() {
		t.began = now
	}
}

func (t *transcript) end() {
	t.began, t.tools, t.asked = time.Time{}, nil, nil
}

// refresh draws what is under way and makes everything seen.
func (t *transcript) refresh(now time.Time) error {
	t.below = nil
	if t.moving {
		t.below = t.underWay(now)
	}
	return t.flush()
}

func (t *transcript) underWay(now time.Time) []row {
	var rows []row
	frame := string(spin[int(now.UnixMilli()/tick.Milliseconds())%len(spin)])
	for _, r := range t.tools {
		if !slices.ContainsFunc(t.asked, func(q question) bool { return q.call == r.id }) {
			rows = append(rows, r.live(frame, now)...)
		}
	}
	if len(t.asked) > 0 {
		rows = append(rows, t.asked[0].keys())
	}
	if len(rows) > 0 && t.block != toolBlock && t.block != noBlock {
		rows = slices.Insert(rows, 0, row{})
	}
	if !t.began.IsZero() && len(rows) == 0 {
		if t.block != noBlock {
			rows = append(rows, row{})
		}
		rows = append(rows, row{{cyan, frame}, {dim, " " + elapsed(now.Sub(t.began))}})
		if !t.typing {
			rows[len(rows)-1] = append(rows[len(rows)-1], piece{dim, "  " + t.note + t.hint})
		}
	}
	if t.typing {
		rows = append(rows, row{}, row{{cyan, "› "}, {normal, tail(t.typed, t.width()-4)}, {normal, "▏"}}, row{{dim, "  " + t.note + t.hint}})
	}
	return rows
}

// tail is the end of what somebody writes, as much as has room.
func tail(text []rune, width int) string {
	for n, i := 0, len(text)-1; i >= 0; i-- {
		if n += cells(text[i]); n > width {
			return "…" + string(text[i+2:])
		}
	}
	return string(text)
}

// elapsed is a duration for people.
func elapsed(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
}
