package workspace

import (
	"bytes"
	"encoding/binary"
)

const (
	diffLimit  = 4096    // edits that are searched for; beyond, the whole middle counts as rewritten
	binaryHead = 8000    // bytes in which a zero means that there are no lines
	linesLimit = 4 << 20 // bytes of a file whose lines are compared
)

// countLines returns how many lines must be added to a and taken from it to
// make b, as a shortest edit does; noLines is set if either is not text.
func countLines(a, b []byte) (insertions, deletions int, noLines bool) {
	if isBinary(a) || isBinary(b) {
		return 0, 0, true
	}
	a, b = trimEnds(a, b)
	as, bs := splitLines(a), splitLines(b)
	for len(as) > 0 && len(bs) > 0 && bytes.Equal(as[0], bs[0]) {
		as, bs = as[1:], bs[1:]
	}
	for len(as) > 0 && len(bs) > 0 && bytes.Equal(as[len(as)-1], bs[len(bs)-1]) {
		as, bs = as[:len(as)-1], bs[:len(bs)-1]
	}
	if len(as) == 0 || len(bs) == 0 || len(a)+len(b) > linesLimit {
		return len(bs), len(as), false
	}
	d, ok := distance(number(as, bs))
	if !ok {
		return len(bs), len(as), false
	}
	return (d + len(bs) - len(as)) / 2, (d - len(bs) + len(as)) / 2, false
}

// trimEnds cuts off whole lines that a and b begin or end with; a few more that
// they share may stay.
func trimEnds(a, b []byte) ([]byte, []byte) {
	n, most := 0, min(len(a), len(b))
	for n+8 <= most && binary.LittleEndian.Uint64(a[n:]) == binary.LittleEndian.Uint64(b[n:]) {
		n += 8
	}
	n = bytes.LastIndexByte(a[:n], '\n') + 1
	a, b = a[n:], b[n:]
	n, most = 0, min(len(a), len(b))
	for n+8 <= most && binary.LittleEndian.Uint64(a[len(a)-n-8:]) == binary.LittleEndian.Uint64(b[len(b)-n-8:]) {
		n += 8
	}
	if i := bytes.IndexByte(a[len(a)-n:], '\n'); i >= 0 {
		n -= i + 1
		return a[:len(a)-n], b[:len(b)-n]
	}
	return a, b
}

func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), binaryHead)], 0) >= 0 }

func splitLines(b []byte) [][]byte {
	if len(b) == 0 {
		return nil
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// number gives equal lines equal numbers.
func number(as, bs [][]byte) ([]int32, []int32) {
	seen := make(map[string]int32, len(as))
	of := func(lines [][]byte) []int32 {
		ns := make([]int32, len(lines))
		for i, l := range lines {
			n, ok := seen[string(l)]
			if !ok {
				n = int32(len(seen))
				seen[string(l)] = n
			}
			ns[i] = n
		}
		return ns
	}
	return of(as), of(bs)
}

// distance is the length of the shortest edit from a to b (Myers, 1986), up to
// diffLimit.
func distance(a, b []int32) (int, bool) {
	most := min(len(a)+len(b), diffLimit)
	v := make([]int, 2*most+3)
	at := func(k int) *int { return &v[k+most+1] }
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && *at(k - 1) < *at(k + 1) {
				x = *at(k + 1)
			} else {
				x = *at(k - 1) + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			*at(k) = x
			if x >= len(a) && y >= len(b) {
				return d, true
			}
		}
	}
	return 0, false
}
