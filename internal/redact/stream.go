package redact

import "io"

// MaxHold bounds what a stream holds back, beside the longest form of a value.
const MaxHold = maxJWTHead + lookAhead

// Stream redacts a text that comes in parts: the result is that of the whole,
// wherever it was cut. It is for one goroutine.
type Stream struct {
	r       *Redactor
	held    []byte   // what may be the beginning of a secret
	shown   int      // how much of held was shown nevertheless
	covered int      // how much of held belongs to a secret that was marked already
	kind    int      // how much of held belongs to a pattern
	open    *pattern // the secret that goes on behind kind, if any
	eaten   int      // how much of that there was
	prev    byte     // what stood before held
}

// Stream begins a text.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Next appends to out what can be shown after another part.
func (s *Stream) Next(out, part []byte) []byte { return s.next(out, part, false) }

// End appends the rest. The stream is as new then.
func (s *Stream) End(out []byte) []byte {
	out = s.next(out, nil, true)
	*s = Stream{r: s.r, held: s.held[:0]}
	return out
}

// Held is how many bytes, at the end of what came, are held back.
func (s *Stream) Held() int { return len(s.held) - s.shown }

func (s *Stream) next(out, part []byte, all bool) []byte {
	b := part
	if len(s.held) > 0 {
		s.held = append(s.held, part...)
		b = s.held
	}
	f := finding{r: s.r, b: b, all: all, prev: s.prev, openFrom: -1, eaten: s.eaten}
	marked := s.covered > 0 || s.open != nil
	kind := s.kind
	if s.open != nil {
		kind = f.swallow(s.open, kind)
	}
	if kind > 0 {
		f.kinds = append(f.kinds, span{-1, kind})
	}
	if marked {
		f.spans = append(f.spans, span{-1, max(s.covered, kind)})
	}
	f.scan()
	if marked {
		f.spans[0].from = 0
	}
	out = f.appendTo(out, s.shown, f.hold, marked)
	if marked {
		f.spans[0].from = -1
	}
	s.covered, s.kind = across(f.spans, f.hold), across(f.kinds, f.hold)
	if s.open, s.eaten = f.open, 0; s.open != nil {
		s.eaten = f.eaten
	}
	if f.hold > 0 {
		s.prev = b[f.hold-1]
		if f.ends(f.hold) {
			s.prev = 0 // no word goes on behind a secret
		}
	}
	s.shown = max(0, s.shown-f.hold)
	s.held = append(s.held[:0], b[f.hold:]...)
	return out
}

// Writer is an [io.Writer] without secrets. Close shows what is held back; it
// does not close what is below.
type Writer struct {
	w   io.Writer
	s   *Stream
	buf []byte
}

// Writer writes to w.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{w: w, s: r.Stream()} }

func (w *Writer) Write(b []byte) (int, error) {
	w.buf = w.s.Next(w.buf[:0], b)
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close writes what was held back.
func (w *Writer) Close() error {
	w.buf = w.s.End(w.buf[:0])
	return w.flush()
}

func (w *Writer) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	_, err := w.w.Write(w.buf)
	return err
}

// Lines is an [io.Writer] without secrets for those who write whole lines, such
// as loggers: nothing is ever held back.
func (r *Redactor) Lines(w io.Writer) io.Writer { return lines{r, w} }

type lines struct {
	r *Redactor
	w io.Writer
}

func (l lines) Write(b []byte) (int, error) {
	if _, err := l.w.Write(l.r.Bytes(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
