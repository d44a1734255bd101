package delta

import (
	"strings"
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

// A frame that was made for an event that never came to be is sent to nobody:
// another event is at its place.
func TestAPreparedFrameIsOfItsEventOnly(t *testing.T) {
	t.Parallel()
	st := conversation(4)
	item := st.Turn.Item
	st.Apply(harness.Event{Seq: st.Seq + 1, Session: "ses_1", Time: beginning, Payload: &harness.Token{ItemID: item, Text: "It"}})
	l := newLane(st, 0)
	r := &room{hub: new(Hub), seq: st.Seq, show: &show{lanes: []*lane{l}}}
	says := func(text string) harness.Event {
		return harness.Event{Seq: r.seq + 1, Session: "ses_1", Time: beginning, Payload: &harness.Token{ItemID: item, Text: text}}
	}
	l.prepare(says("lost"))
	for _, text := range []string{" is", " there"} {
		e := says(text)
		if text == " there" {
			l.prepare(e)
		}
		r.project([]harness.Event{e})
		sent := string(l.ring.after(l.ring.frames[len(l.ring.frames)-1].off))
		if !strings.Contains(sent, `"`+text+`"`) || strings.Contains(sent, "lost") || l.sent != e.Seq || st.Seq != e.Seq {
			t.Errorf("%q was sent as %s at %d", text, sent, l.sent)
		}
	}
	if got := st.Messages[len(st.Messages)-1].Content.String(); !strings.HasSuffix(got, "It is there") {
		t.Errorf("folded to %q", got)
	}
}
