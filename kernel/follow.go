package kernel

import (
	"slices"

	"harness"
)

// report is a fact on its way to the session, and how far the run it comes from
// was read with it.
type report struct {
	payload  harness.Payload
	followed *harness.Followed
}

// following is how far the frames of a run that can outlive the server were
// read. The zero value is an engine that has none.
type following struct {
	last uint64         // the last frame that was taken
	done uint64         // up to here the log has everything, since before this process
	owed []harness.Held // but for the ends of these
}

func followFrom(f *harness.Followed) following {
	if f == nil {
		return following{}
	}
	return following{last: f.Frame, done: f.Frame, owed: f.Held}
}

// known is how much of a frame's text the log has already; all of it if that is
// negative.
func (f *following) known(frame uint64) int {
	if frame == 0 || frame > f.done {
		return 0
	}
	i := slices.IndexFunc(f.owed, func(h harness.Held) bool { return h.Frame == frame })
	if i < 0 {
		return -1
	}
	shown := f.owed[i].Shown
	f.owed = slices.Delete(slices.Clone(f.owed), i, i+1)
	return shown
}

// at is the place that was reached, given what streams hold back.
func (f *following) at(streams ...*traced) *harness.Followed {
	if f.last == 0 {
		return nil
	}
	held := slices.Clone(f.owed)
	for _, s := range streams {
		if s == nil {
			continue
		}
		for _, p := range s.pieces {
			held = append(held, harness.Held{Frame: p.frame, Shown: p.from})
		}
	}
	slices.SortFunc(held, func(a, b harness.Held) int { return int(a.Frame) - int(b.Frame) })
	return &harness.Followed{Frame: f.last, Held: held}
}

// traced is a text that knows which frames it holds back.
type traced struct {
	TextStream
	pieces []piece // in order
}

// piece is the bytes from and to of a frame's text.
type piece struct {
	frame    uint64
	from, to int
}

// say is Text, of a frame of which the log has the first shown bytes: they are
// only remembered, because a secret may go on behind them. Frame 0 is none.
func (t *traced) say(frame uint64, shown int, text string) string {
	if shown < 0 {
		shown = len(text)
	}
	if shown = min(shown, len(text)); shown > 0 {
		t.Text(text[:shown])
		t.Flush()
		text = text[shown:]
	}
	out := t.Text(text)
	if frame > 0 && text != "" {
		t.pieces = append(t.pieces, piece{frame, shown, shown + len(text)})
		t.keep(t.Held())
	}
	return out
}

// keep forgets the pieces before the last n bytes.
func (t *traced) keep(n int) {
	for i := len(t.pieces) - 1; i >= 0; i-- {
		p := &t.pieces[i]
		if n <= 0 {
			t.pieces = slices.Delete(t.pieces, 0, i+1)
			return
		}
		if size := p.to - p.from; size > n {
			p.from = p.to - n
			n = 0
		} else {
			n -= size
		}
	}
}

// flush is everything that is held back.
func (t *traced) flush() string {
	t.pieces = nil
	return t.Flush()
}
