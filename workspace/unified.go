package workspace

import (
	"bytes"
	"fmt"
	"slices"
)

// unifiedLimit is how many edits of one file are searched for; beyond, all that
// is between its first and its last change counts as rewritten.
const unifiedLimit = 1000

// unified is the hunks of a unified diff from a to b.
func unified(a, b []byte) []byte {
	as, bs := splitLines(a), splitLines(b)
	var out bytes.Buffer
	for _, h := range group(edits(as, bs)) {
		h.write(&out, as, bs)
	}
	return out.Bytes()
}

// edit replaces the lines from a0 to a1 by those from b0 to b1.
type edit struct{ a0, a1, b0, b1 int }

// edits are the changes from a to b, in order and apart.
func edits(as, bs [][]byte) []edit {
	head := 0
	for head < len(as) && head < len(bs) && bytes.Equal(as[head], bs[head]) {
		head++
	}
	tail := 0
	for tail < len(as)-head && tail < len(bs)-head && bytes.Equal(as[len(as)-1-tail], bs[len(bs)-1-tail]) {
		tail++
	}
	na, nb := len(as)-tail, len(bs)-tail
	if head == na && head == nb {
		return nil
	}
	list, ok := shortest(number(as[head:na], bs[head:nb]))
	if !ok {
		return []edit{{head, na, head, nb}}
	}
	for i := range list {
		list[i] = edit{list[i].a0 + head, list[i].a1 + head, list[i].b0 + head, list[i].b1 + head}
	}
	return list
}

// shortest is the shortest edit (Myers, 1986), up to unifiedLimit.
func shortest(a, b []int32) (list []edit, ok bool) {
	most := min(len(a)+len(b), unifiedLimit)
	v := make([]int, 2*most+3)
	var seen [][]int // v before each step, as far as it is used
	at := func(v []int, k, most int) *int { return &v[k+most+1] }
	for d := 0; d <= most; d++ {
		seen = append(seen, slices.Clone(v[most-d:most+d+3]))
		for k := -d; k <= d; k += 2 {
			x := *at(v, k-1, most) + 1
			if k == -d || k != d && *at(v, k-1, most) < *at(v, k+1, most) {
				x = *at(v, k+1, most)
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			if *at(v, k, most) = x; x >= len(a) && y >= len(b) {
				return trail(seen, len(a), len(b)), true
			}
		}
	}
	return nil, false
}

// trail follows a shortest edit back from its end and joins what touches.
func trail(seen [][]int, x, y int) (list []edit) {
	for d := len(seen) - 1; d > 0; d-- {
		v, k := seen[d], x-y
		at := func(k int) int { return v[k+d+1] }
		before := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			before = k + 1
		}
		px := at(before)
		py := px - before
		e := edit{px, px, py, py + 1} // a line of b
		if before == k-1 {
			e = edit{px, px + 1, py, py} // a line of a
		}
		if n := len(list); n > 0 && list[n-1].a0 == e.a1 && list[n-1].b0 == e.b1 {
			list[n-1].a0, list[n-1].b0 = e.a0, e.b0
		} else {
			list = append(list, e)
		}
		x, y = px, py
	}
	slices.Reverse(list)
	return list
}

// hunk is edits that stand together.
type hunk []edit

func group(list []edit) (hunks []hunk) {
	for _, e := range list {
		if n := len(hunks); n > 0 && e.a0-hunks[n-1][len(hunks[n-1])-1].a1 <= 2*patchContext {
			hunks[n-1] = append(hunks[n-1], e)
			continue
		}
		hunks = append(hunks, hunk{e})
	}
	return hunks
}

func (h hunk) write(out *bytes.Buffer, as, bs [][]byte) {
	first, last := h[0], h[len(h)-1]
	before := min(first.a0, patchContext)
	after := min(len(as)-last.a1, patchContext)
	a0, a1, b0, b1 := first.a0-before, last.a1+after, first.b0-before, last.b1+after
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(a0, a1), span(b0, b1))
	at := a0
	for _, e := range h {
		lines(out, ' ', as[at:e.a0])
		lines(out, '-', as[e.a0:e.a1])
		lines(out, '+', bs[e.b0:e.b1])
		at = e.a1
	}
	lines(out, ' ', as[at:a1])
}

// span is where a hunk stands: lines count from 1, and none stands behind one.
func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func lines(out *bytes.Buffer, sign byte, list [][]byte) {
	for _, l := range list {
		out.WriteByte(sign)
		out.Write(bytes.TrimSuffix(l, []byte("\n")))
		out.WriteByte('\n')
		if !bytes.HasSuffix(l, []byte("\n")) {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}
