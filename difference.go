package harness

import "strings"

// maxSteps is how many lines of a difference are searched for; its square is what
// that costs, and it is paid whenever a log is folded. Beyond it all lines between
// the first and the last that differ go, and come.
const maxSteps = 512

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
	steps, found := shortest(a, b)
	if !found {
		return len(b), len(a)
	}
	return (steps + len(b) - len(a)) / 2, (steps + len(a) - len(b)) / 2
}

// shortest is the least number of lines to take out and put in, after Myers: how
// far one comes on each diagonal with so many steps.
func shortest(a, b []string) (steps int, found bool) {
	most := min(len(a)+len(b), maxSteps)
	far := make([]int, 2*most+3)
	mid := most + 1
	for steps := range most + 1 {
		for k := -steps; k <= steps; k += 2 {
			var x int
			if k == -steps || k != steps && far[mid+k-1] < far[mid+k+1] {
				x = far[mid+k+1]
			} else {
				x = far[mid+k-1] + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			if far[mid+k] = x; x >= len(a) && y >= len(b) {
				return steps, true
			}
		}
	}
	return 0, false
}
