package object

import (
	"math"
	"strconv"
)

// forbidden reports whether no path may contain seg, in whatever container.
func forbidden(seg string) bool {
	return seg == "__proto__" || seg == "constructor" || seg == "prototype"
}

// place finds the position in an array of length n that seg means: below n an
// element, n the end. With clamp, a position beyond the end is the end.
func place(seg string, n int, clamp bool) (int, error) {
	i, ok := integer(seg)
	switch {
	case !ok:
		return 0, ErrIndex
	case i < 0 || i > n && !clamp:
		return 0, ErrBounds
	}
	return min(i, n), nil
}

// integer reads seg as an integer if it is spelled as JavaScript would spell
// that number, and only then. Numbers beyond int are cut to its ends.
func integer(seg string) (int, bool) {
	if len(seg) == 0 || len(seg) > 15 {
		return large(seg)
	}
	if seg[0] == '0' {
		return 0, len(seg) == 1
	}
	n := 0
	for i := range len(seg) {
		d := seg[i] - '0'
		if d > 9 {
			return large(seg)
		}
		n = n*10 + int(d)
	}
	return n, true
}

// large is integer for negative numbers and those past 15 digits, where a
// float64 stops being exact and JavaScript turns to exponents.
func large(seg string) (int, bool) {
	f, err := strconv.ParseFloat(seg, 64)
	if err != nil || f == 0 || f != math.Trunc(f) || math.IsInf(f, 0) {
		return 0, false
	}
	format := byte('f')
	if math.Abs(f) >= 1e21 {
		format = 'e'
	}
	if strconv.FormatFloat(f, format, -1, 64) != seg {
		return 0, false
	}
	return int(max(-1<<53, min(1<<53, f))), true
}
