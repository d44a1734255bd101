package egress

import "bytes"

// scanner reads a JSON text that comes in parts and tells the short values at
// short paths. It keeps nothing of the rest, whatever its size, and takes any
// bytes: what is no JSON tells nothing, or nothing sensible.
type scanner struct {
	found func(path, value []byte) // value as it is written, without quotes; both only for the call

	state  scanState
	depth  int           // containers that are open
	array  [maxPath]bool // of the outermost: whether it is an array
	ends   [maxPath]int  // of the outermost: how much of path leads to it
	path   []byte        // keys, each behind a dot
	value  []byte        // what is being read, unless it is too long
	long   bool          // it is
	key    bool          // it is a key
	escape bool          // a backslash came
}

type scanState int

const (
	between  scanState = iota
	inString           // behind a quote
	inWord             // in a number, true, false, null
)

const (
	maxPath  = 5   // response.usage.input_tokens_details.cached_tokens has 4
	maxKey   = 40  // the longest that means something has 27
	maxValue = 200 // a model's name
)

// reset begins another text.
func (s *scanner) reset() {
	s.state, s.depth, s.path, s.value, s.long, s.key, s.escape = between, 0, s.path[:0], s.value[:0], false, false, false
}

// write reads another part.
func (s *scanner) write(b []byte) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch s.state {
		case inString:
			switch {
			case s.escape:
				s.escape = false
			case c == '\\':
				s.escape, s.long = true, true // nothing that means something has one
			case c == '"':
				s.state = between
				s.close()
			case s.long: // quickly over texts
				for i+1 < len(b) && b[i+1] != '"' && b[i+1] != '\\' {
					i++
				}
			default:
				s.keep(c)
			}
			continue
		case inWord:
			if c != ',' && c != '}' && c != ']' && c > ' ' {
				s.keep(c)
				continue
			}
			s.state = between
			s.close()
		case between:
		}
		s.structure(c)
	}
}

// end says that nothing follows.
func (s *scanner) end() {
	if s.state == inWord {
		s.close()
	}
	s.reset()
}

// shallow reports whether the innermost container is one that is remembered.
func (s *scanner) shallow() bool { return s.depth > 0 && s.depth <= maxPath }

// structure takes a byte that is not part of a value.
func (s *scanner) structure(c byte) {
	switch c {
	case '{', '[':
		if s.depth < maxPath {
			s.array[s.depth], s.ends[s.depth] = c == '[', len(s.path)
		}
		s.depth++
		s.key = c == '{'
		if c == '[' && s.depth <= maxPath {
			s.path = append(s.path, ".[]"...)
			s.ends[s.depth-1] = len(s.path)
		}
	case '}', ']':
		if s.depth > 0 {
			s.depth--
		}
		s.cut()
		s.key = false
	case ',':
		s.cut()
		s.key = s.shallow() && !s.array[s.depth-1]
	case '"':
		s.begin(inString)
	case ':', ' ', '\t', '\r', '\n':
	default:
		s.begin(inWord)
		s.keep(c)
	}
}

// cut takes off the path what led to the value that has just ended.
func (s *scanner) cut() {
	switch {
	case s.depth == 0:
		s.path = s.path[:0]
	case s.depth <= maxPath:
		s.path = s.path[:min(len(s.path), s.ends[s.depth-1])]
	}
}

func (s *scanner) begin(state scanState) {
	s.state, s.value, s.long = state, s.value[:0], !s.shallow()
}

func (s *scanner) keep(c byte) {
	if len(s.value) == maxValue {
		s.long = true
	}
	if !s.long {
		s.value = append(s.value, c)
	}
}

// close takes the value that has been read.
func (s *scanner) close() {
	if !s.shallow() {
		return
	}
	if !s.key {
		if !s.long {
			s.found(s.path, s.value)
		}
		return
	}
	s.key = false
	s.path = s.path[:s.ends[s.depth-1]]
	s.path = append(s.path, '.')
	if s.long || len(s.value) > maxKey || bytes.IndexByte(s.value, '.') >= 0 {
		s.path = append(s.path, '?')
	} else {
		s.path = append(s.path, s.value...)
	}
}
