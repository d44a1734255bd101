package delta

import (
	"testing"

	"harness"
	"harness/internal/object"
)

// Text that is sent ahead of its fold makes the frame that the fold would have
// made, byte for byte, in every random session.
func TestTextAheadOfTheFoldIsWhatTheFoldTells(t *testing.T) {
	t.Parallel()
	ahead := 0
	for s := range authors(40, 400) {
		a := newAuthor(5, s, []int{0, 3, 12}[s%3])
		p := newProjector(new(harness.State), 0)
		var out object.Pending
		var enc object.Encoder
		for range 120 {
			e := a.next()
			var sent []byte
			if path, text := p.grows(e); text != "" {
				sent = appendText(nil, e.Seq, &enc, path, text)
			}
			p.project(e, &out)
			if told := appendDelta(nil, e.Seq, &out); sent != nil && string(sent) != string(told) {
				t.Fatalf("log %d: %s at %d: sent\n %s\n but the fold tells\n %s", s, e.Type(), e.Seq, sent, told)
			}
			out.Reset()
			if sent != nil {
				ahead++
			}
		}
	}
	if ahead < 100 {
		t.Errorf("only %d texts went ahead", ahead)
	}
}
