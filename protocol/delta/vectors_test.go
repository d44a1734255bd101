package delta

import (
	"bytes"
	"testing"

	"harness"
	"harness/internal/object"
)

// The vectors are sessions as sockets carry them: a line with a state, then
// lines with a delta each and the view behind it. Clients in other languages
// apply the one and must have the other; the TypeScript client does so in its
// tests. UPDATE=1 rewrites them.
func TestVectorsAreThoseOfTheProjection(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	line := func(parts ...[]byte) {
		b.WriteString("[")
		b.Write(bytes.Join(parts, []byte(",")))
		b.WriteString("]\n")
	}
	for s := range uint64(14) {
		a := newAuthor(21, s, []int{0, 6}[s%2])
		for range a.pick(20) {
			a.next()
		}
		first := 0
		if s%4 == 3 {
			first = a.pick(a.st.Count() + 1)
		}
		p := newProjector(a.st.Clone(), first)
		state := appendState(nil, p.st, nil, first)
		if len(state) > 8<<10 { // the file is to stay small
			continue
		}
		line(state)
		var out object.Pending
		for range 14 {
			var e harness.Event
			for range 1 + a.pick(5) {
				e = a.next()
				p.project(e, &out)
			}
			frame, view := appendDelta(nil, e.Seq, &out), appendView(nil, p.st, nil, first)
			if out.Reset(); len(frame)+len(view) > 8<<10 {
				break
			}
			line(frame, view)
		}
	}
	golden(t, "../../client/ts/testdata/vectors.jsonl", b.Bytes())
}
