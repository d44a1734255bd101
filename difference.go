package harness

import "strings"

// maxCompared bounds the search for a shortest difference: the product of the
// numbers of lines that differ. Above it all of them go, and all come.
const maxCompared = 1200 * 1200

// lines are those of a text, without their ends.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// lineDifference is how many lines come and go from before to after, at least.
func lineDifference(before, after string) (come, gone int) {
	a, b := lines(before), lines(after)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a)*len(b) > maxCompared {
		return len(b), len(a)
	}
	steps := shortest(a, b)
	return (steps + len(b) - len(a)) / 2, (steps + len(a) - len(b)) / 2
}

// shortest is the least number of lines to take out and put in, after Myers: how
// far one comes on each diagonal with so many steps.
func shortest(a, b []string) int {
	limit := len(a) + len(b)
	far := make([]int, 2*limit+2)
	for steps := 0; steps < limit; steps++ {
		for k := -steps; k <= steps; k += 2 {
			var x int
			if k == -steps || k != steps && far[limit+k-1] < far[limit+k+1] {
				x = far[limit+k+1]
			} else {
				x = far[limit+k-1] + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			if far[limit+k] = x; x >= len(a) && y >= len(b) {
				return steps
			}
		}
	}
	return limit
}
