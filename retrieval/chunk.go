package retrieval

import "bytes"

// span is a chunk's place in a text: lines from 1, both included, and bytes.
type span struct {
	from, to   int
	start, end int
}

// split cuts a text into chunks. Every line is in at least one.
func split(text []byte) (all []span) {
	starts := make([]int, 0, len(text)/32+2) // of each line, and the end
	for at := 0; at < len(text); {
		starts = append(starts, at)
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	n := len(starts)
	starts = append(starts, len(text))
	for first := 0; first < n; {
		next := border(text, starts, first)
		all = append(all, span{first + 1, next, starts[first], starts[next]})
		if next == n {
			break
		}
		// A chunk that is short for its long lines shares none of them.
		first = max(next-chunkOverlap, first+(next-first+1)/2, first+1)
		for first < next && starts[next]-starts[first] > chunkBytes/4 {
			first++
		}
	}
	return all
}

// border returns the line after the chunk that begins at first.
func border(text []byte, starts []int, first int) int {
	n := len(starts) - 1
	last := min(first+chunkLines, n)
	for last > first+1 && starts[last]-starts[first] > chunkBytes {
		last--
	}
	if last == n || last < first+chunkLeast {
		return last
	}
	for at := last; at > first+chunkLeast; at-- {
		if len(bytes.TrimSpace(text[starts[at-1]:starts[at]])) == 0 {
			return at
		}
	}
	return last
}

// isBinary reports whether a file is no text.
func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0
}
