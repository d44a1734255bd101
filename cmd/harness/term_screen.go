package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// style is how a piece of text looks on a terminal that has colours.
type style string

const (
	normal style = ""
	bold   style = "\x1b[1m"
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	cyan   style = "\x1b[36m"
)

// piece is text in one style; row is a line of them.
type (
	piece struct {
		style style
		text  string
	}
	row []piece
)

// screen writes text that stays and, below it, a few rows that change. Where
// the cursor cannot be moved there is only what stays, as it was given.
// Nothing written through it can steer the terminal. Flush makes it seen.
type screen struct {
	w       io.Writer
	moving  bool // it is a terminal that can move its cursor
	colours bool
	size    func() (width, height int)

	stay   []byte // not yet written
	col    int    // where the text that stays ends
	word   []byte // what of it may still be taken to the next row
	wide   int    // its cells
	indent int    // of the rows that go on

	below []row // wanted
	drawn []row // on the terminal, below column at
	at    int
	bare  bool // the cursor is hidden
}

// width is how many cells a row may have. The last one stays free, where
// terminals differ in when they wrap.
func (s *screen) width() int {
	w, _ := s.size()
	return max(20, w-1)
}

// write adds text that stays. Rows that are too long are wrapped between words.
func (s *screen) write(st style, text string) {
	text = visible(text)
	if !s.moving {
		s.stay = append(s.stay, text...)
		if i := strings.LastIndexByte(text, '\n'); i >= 0 {
			s.col = len(text) - i - 1
		} else {
			s.col += len(text)
		}
		return
	}
	s.paint(st)
	limit := s.width()
	for _, r := range text {
		switch r {
		case '\n':
			s.wrap(st, nil)
		case '\t':
			s.space(4-s.col%4, limit)
		case ' ':
			s.space(1, limit)
		default:
			s.rune(st, r, limit)
		}
	}
	s.unpaint(st)
}

func (s *screen) space(n, limit int) {
	s.word, s.wide = nil, 0
	for range min(n, limit-s.col) { // those at the end of a row are not missed
		s.stay = append(s.stay, ' ')
		s.col++
	}
}

func (s *screen) rune(st style, r rune, limit int) {
	w := cells(r)
	if s.col+w > limit {
		word, wide := s.word, s.wide
		if wide == 0 || wide > limit/2 {
			word, wide = nil, 0
		} else {
			s.stay = fmt.Appendf(s.stay, "\x1b[%dD\x1b[K", wide)
		}
		s.wrap(st, word)
		s.word, s.wide = append(s.word, word...), wide
		s.col += wide
	}
	s.stay = append(s.stay, string(r)...)
	s.word = append(s.word, string(r)...)
	s.wide += w
	s.col += w
}

// wrap goes to the next row and writes a word there.
func (s *screen) wrap(st style, word []byte) {
	s.unpaint(st)
	s.stay = append(s.stay, '\n')
	for range s.indent {
		s.stay = append(s.stay, ' ')
	}
	s.paint(st)
	s.stay = append(s.stay, word...)
	s.col, s.word, s.wide = s.indent, nil, 0
}

// maxPlainRow bounds a row where there is no terminal.
const maxPlainRow = 400

// row adds a row that stays, cut to the width of a terminal.
func (s *screen) row(r row) {
	width := maxPlainRow
	if s.moving {
		width = s.width()
	}
	r = r.cut(width)
	indent := s.indent
	s.indent = 0
	for _, p := range r {
		s.write(p.style, p.text)
	}
	s.write(normal, "\n")
	s.indent = indent
}

func (s *screen) paint(st style) {
	if s.colours && st != normal {
		s.stay = append(s.stay, st...)
	}
}

func (s *screen) unpaint(st style) {
	if s.colours && st != normal {
		s.stay = append(s.stay, "\x1b[0m"...)
	}
}

// flush brings the terminal up to date with one write.
func (s *screen) flush() error {
	same := slices.EqualFunc(s.below, s.drawn, slices.Equal[row])
	if len(s.stay) == 0 && (same || !s.moving) {
		return nil
	}
	if !s.moving {
		_, err := s.w.Write(s.stay)
		s.stay = s.stay[:0]
		return err
	}
	out := s.erase(nil)
	out = append(out, s.stay...)
	s.stay = s.stay[:0]
	out = s.draw(out)
	_, err := s.w.Write(out)
	return err
}

// erase takes the rows that change away and puts the cursor where the text that
// stays goes on.
func (s *screen) erase(out []byte) []byte {
	n := len(s.drawn)
	if n == 0 {
		return out
	}
	out = append(out, '\r')
	if s.at == 0 {
		n--
	}
	if n > 0 {
		out = fmt.Appendf(out, "\x1b[%dA", n)
	}
	if s.at > 0 {
		out = fmt.Appendf(out, "\x1b[%dC", s.at)
	}
	return append(out, "\x1b[J"...)
}

func (s *screen) draw(out []byte) []byte {
	_, height := s.size()
	rows := s.below[max(0, len(s.below)-max(1, height-2)):]
	s.drawn, s.at = slices.Clone(rows), s.col
	if len(rows) > 0 && s.col > 0 {
		out = append(out, '\n')
	}
	for i, r := range rows {
		if i > 0 {
			out = append(out, '\n')
		}
		for _, p := range r.cut(s.width()) {
			if s.colours && p.style != normal {
				out = append(append(append(out, p.style...), p.text...), "\x1b[0m"...)
			} else {
				out = append(out, p.text...)
			}
		}
	}
	if hide := len(rows) > 0; hide != s.bare {
		s.bare = hide
		out = append(out, map[bool]string{true: "\x1b[?25l", false: "\x1b[?25h"}[hide]...)
	}
	return out
}

// close leaves a clean line behind.
func (s *screen) close() error {
	s.below = nil
	if s.col > 0 {
		s.indent = 0
		s.write(normal, "\n")
	}
	return s.flush()
}

// cut is a row of at most so many cells, without anything that steers.
func (r row) cut(width int) row {
	out := make(row, 0, len(r))
	for _, p := range r {
		text := visible(strings.NewReplacer("\n", " ", "\t", " ").Replace(p.text))
		n := 0
		for i, c := range text {
			if n+cells(c) > width || n+cells(c) == width && i+len(string(c)) < len(text) {
				return append(out, piece{p.style, text[:i] + "…"})
			}
			n += cells(c)
		}
		width -= n
		out = append(out, piece{p.style, text})
	}
	return out
}

// wideRunes are the ranges that take two cells: East Asian and pictures.
var wideRunes = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x23e9, 0x23ec}, {0x2705, 0x2705}, {0x2728, 0x2728}, {0x274c, 0x274c}, {0x2e80, 0x303e},
	{0x3041, 0xa4cf}, {0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
}

// cells is how wide a terminal shows r. Where terminals disagree a row may end
// a little early; nothing else depends on it.
func cells(r rune) int {
	switch {
	case r >= 0x300 && r < 0x370, r == 0x200b, r == 0x200d, r >= 0xfe00 && r <= 0xfe0f, r >= 0x20d0 && r <= 0x20ff:
		return 0
	case r < 0x1100:
		return 1
	}
	for _, w := range wideRunes {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}
