package delta

import "strconv"

// paths spells the paths of operations without allocating for those that
// repeat. A path is valid until the next one.
type paths struct {
	first int // message 0 of the view
	path  []string
	at    int // the message whose index is spelled in name
	name  string
}

// message is the path of message n, or of something in it.
func (p *paths) message(n int, rest ...string) []string {
	if n != p.at {
		p.at, p.name = n, strconv.Itoa(n-p.first)
	}
	p.path = append(append(p.path[:0], "messages", p.name), rest...)
	return p.path
}

// field is the path of a field of the state itself.
func (p *paths) field(name string) []string {
	p.path = append(p.path[:0], name)
	return p.path
}
