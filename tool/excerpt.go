package tool

import (
	"fmt"
	"strings"
)

// difference shows the lines of a changed text from two before the first that
// differs to two after the last, numbered, and not too many.
func difference(before, after string) (from int, excerpt string) {
	const around, most = 2, 30
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	first := 0
	for first < len(was) && first < len(is) && was[first] == is[first] {
		first++
	}
	last := 0
	for last < len(was)-first && last < len(is)-first && was[len(was)-1-last] == is[len(is)-1-last] {
		last++
	}
	begin, end := max(first-around, 0), min(len(is)-last+around, len(is))
	if end == len(is) && is[end-1] == "" {
		end-- // what is behind the last newline
	}
	var b strings.Builder
	for i := begin; i < end; i++ {
		if i-begin == most {
			fmt.Fprintf(&b, "[%d more lines]\n", end-i)
			break
		}
		line := strings.TrimSuffix(is[i], "\r")
		if len(line) > 300 {
			line = line[:wholeRunes([]byte(line[:300]))] + "…"
		}
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, strings.ToValidUTF8(line, "\uFFFD"))
	}
	return begin + 1, b.String()
}
