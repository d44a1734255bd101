package redact

// Held is how many bytes a stream holds back.
func (s *Stream) Held() int { return len(s.held) }
