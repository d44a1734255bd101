package redact

// Glimpse is how much of what may be a secret a live text shows at once. Held
// back, it would make every other word wait for the next one; shown, it tells
// nobody anything, and the rest of the secret is still taken out.
const Glimpse = 2

// Text is what can be shown of a live text after another part: part itself, at
// no cost, as long as there is nothing to hide. Up to [Glimpse] bytes of a secret
// may stand before its mark.
func (s *Stream) Text(part string) string {
	if s.open == nil && s.shown == len(s.held) && s.pass(part) {
		return part
	}
	out := s.next(nil, []byte(part), false)
	if len(s.held) <= Glimpse {
		out = s.show(out)
	}
	return string(out)
}

// pass takes a part without a secret, if it is one.
func (s *Stream) pass(part string) bool {
	a := s.r.automaton()
	var before int32
	if len(s.held) > 0 {
		var ok bool
		if before, ok = run(a, 0, s.held); !ok {
			return false
		}
	}
	end, ok := run(a, before, part)
	if !ok {
		return false
	}
	prev := s.prev
	if n := len(s.held); n > 0 {
		prev = s.held[n-1]
		if max(s.covered, s.kind) == n {
			prev = 0 // no word goes on behind a secret
		}
	}
	hold := pending(a, end, part, prev, -1)
	if hold > Glimpse || hold > len(part) {
		return false
	}
	at := len(part) - hold
	if at > 0 {
		prev = part[at-1]
	}
	s.prev, s.shown, s.covered, s.kind = prev, hold, 0, 0
	s.held = append(s.held[:0], part[at:]...)
	return true
}

// Flush is what is held back, which has to be shown now. The stream goes on: if
// that was the beginning of a secret, the rest of it is still taken out.
func (s *Stream) Flush() string {
	if s.shown == len(s.held) {
		return ""
	}
	return string(s.show(nil))
}

// show appends what of held was not shown, without the secrets in it.
func (s *Stream) show(out []byte) []byte {
	f := finding{r: s.r, b: s.held, prev: s.prev}
	gone := max(s.covered, s.kind) // marked before
	if s.open != nil {
		gone = len(s.held)
	}
	if gone > 0 {
		f.cover(-1, gone)
	}
	f.scan()
	out = f.appendTo(out, s.shown, len(s.held), gone > 0)
	s.shown = len(s.held)
	return out
}
