package tool

import (
	"bytes"
	"fmt"
	"strings"
)

// printer writes matching lines with those around them, as grep does: a colon
// after the number of a line that matches, a dash after that of another, and --
// between pieces.
type printer struct {
	*search
	name string
	text []byte
	out  strings.Builder

	number int // of the line at counted
	// counted and printed are where lines are counted and shown up to.
	counted, printed int
	owed             int // lines still to show after the last match
	pieces           int
}

// match shows a line that matches; matches come in their order.
func (p *printer) match(begin, end int, at []int) {
	p.after(begin)
	first := begin
	for range p.in.Before {
		if first <= p.printed {
			break
		}
		first = bytes.LastIndexByte(p.text[:first-1], '\n') + 1
	}
	first = max(first, p.printed)
	if p.in.Before+p.in.After > 0 {
		if p.pieces > 0 && first > p.printed {
			p.out.WriteString("--\n")
		}
		p.pieces++
	}
	for first < begin {
		first = p.line(first, '-', nil)
	}
	p.printed = p.line(begin, ':', at)
	p.owed = p.in.After
}

// after shows lines that are owed to the last match, up to a place.
func (p *printer) after(until int) {
	for ; p.owed > 0 && p.printed < until && p.printed < len(p.text); p.owed-- {
		p.printed = p.line(p.printed, '-', nil)
	}
}

// rest shows what is owed when there are no more matches.
func (p *printer) rest() { p.after(len(p.text)) }

// line shows the line that begins there and returns where the next one does.
func (p *printer) line(begin int, mark byte, at []int) (next int) {
	p.number += bytes.Count(p.text[p.counted:begin], []byte("\n"))
	p.counted = begin
	end, next := len(p.text), len(p.text)
	if n := bytes.IndexByte(p.text[begin:], '\n'); n >= 0 {
		end, next = begin+n, begin+n+1
	}
	line := bytes.TrimSuffix(p.text[begin:end], []byte("\r"))
	fmt.Fprintf(&p.out, "%s%c%d%c%s\n", p.name, mark, p.number, mark, clip(line, at))
	return next
}

// clip is as much of a line as is shown: what is around the match.
func clip(line []byte, at []int) string {
	from, to := 0, len(line)
	if to > maxMatchedLine {
		if at != nil {
			from = max(0, min(at[0]-maxMatchedLine/4, len(line)-maxMatchedLine))
		}
		to = from + maxMatchedLine
	}
	text := strings.ToValidUTF8(string(line[from:to]), "\uFFFD")
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += fmt.Sprintf("… [%d bytes]", len(line))
	}
	return text
}
