package main

import (
	"strconv"
	"strings"
	"testing"
)

// vt is as much of a terminal as the screen needs. It refuses the rest.
type vt struct {
	width    int
	rows     [][]rune
	row, col int
	odd      []string // sequences it does not know
}

func newVT(width int) *vt { return &vt{width: width, rows: [][]rune{nil}} }

func (v *vt) write(s string) {
	for s != "" {
		if strings.HasPrefix(s, "\x1b[") {
			end := strings.IndexFunc(s[2:], func(r rune) bool { return r >= 0x40 && r < 0x7f })
			if end < 0 {
				return
			}
			v.control(s[2:2+end], s[2+end])
			s = s[3+end:]
			continue
		}
		var r rune
		for _, r = range s {
			break
		}
		s = s[len(string(r)):]
		v.put(r)
	}
}

func (v *vt) put(r rune) {
	switch r {
	case '\n':
		v.row, v.col = v.row+1, 0
	case '\r':
		v.col = 0
	default:
		if r < ' ' {
			v.odd = append(v.odd, strconv.QuoteRune(r))
			return
		}
		if v.col+cells(r) > v.width { // it wraps by itself; the screen should not let it come to that
			v.row, v.col = v.row+1, 0
			v.odd = append(v.odd, "wrap")
		}
		v.fill()
		line := &v.rows[v.row]
		for len(*line) < v.col+cells(r) {
			*line = append(*line, ' ')
		}
		(*line)[v.col] = r
		for i := 1; i < cells(r); i++ {
			(*line)[v.col+i] = 0
		}
		v.col += cells(r)
	}
	v.fill()
}

func (v *vt) fill() {
	for len(v.rows) <= v.row {
		v.rows = append(v.rows, nil)
	}
}

func (v *vt) control(params string, final byte) {
	n, _ := strconv.Atoi(params)
	switch n = max(1, n); final {
	case 'A':
		v.row = max(0, v.row-n)
	case 'C':
		v.col += n
	case 'D':
		v.col = max(0, v.col-n)
	case 'K':
		v.clear()
	case 'J':
		v.clear()
		v.rows = v.rows[:v.row+1]
	case 'm', 'h', 'l':
	default:
		v.odd = append(v.odd, params+string(final))
	}
}

func (v *vt) clear() {
	if v.col < len(v.rows[v.row]) {
		v.rows[v.row] = v.rows[v.row][:v.col]
	}
}

func (v *vt) String() string {
	var b strings.Builder
	for _, r := range v.rows {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(r), "\x00", ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func TestTheTerminalOfTheTestsIsOne(t *testing.T) {
	t.Parallel()
	v := newVT(10)
	v.write("one\ntwo\x1b[31m red\x1b[0m\n漢字\r\x1b[1A\x1b[3C\x1b[K!\n\nlast\x1b[2Dx")
	if got, want := v.String(), "one\ntwo!\n漢字\nlaxt\n"; got != want || len(v.odd) > 0 {
		t.Errorf("it shows %q, want %q; odd: %q", got, want, v.odd)
	}
}
