package claude

// streak is a text of which so much is kept that it is known again: its length and
// its sum, which is FNV-1a.
type streak struct {
	size int
	sum  uint64
}

// add makes the text longer.
func (s *streak) add(text string) {
	if s.size == 0 {
		s.sum = 14695981039346656037
	}
	for i := range len(text) {
		s.sum = (s.sum ^ uint64(text[i])) * 1099511628211
	}
	s.size += len(text)
}

// rest is what of a text comes after the streak; false if it begins otherwise.
func (s *streak) rest(whole string) (string, bool) {
	if s.size > len(whole) {
		return "", false
	}
	var begin streak
	begin.add(whole[:s.size])
	return whole[s.size:], s.size == 0 || begin == *s
}
