package strict

// skip sees an array or object without looking at more than its strings and
// brackets.
func (c *checker) skip() Kind {
	for depth := 0; ; {
		switch b := c.here(); b {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			c.i++
			if k := c.string(); k != "" {
				return k
			}
			continue
		case 0:
			return c.wrong()
		}
		c.i++
		if depth == 0 {
			return ""
		}
	}
}
