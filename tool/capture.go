package tool

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// headBytes and tailBytes are what is kept of the output of one process: how
	// it began, and how it ended, which is where errors are.
	headBytes = 256 << 10
	tailBytes = 768 << 10
	// shownBytes is how much of it is shown while it runs: what is shown is
	// kept with the session.
	shownBytes = 256 << 10
)

// capture keeps the beginning and the end of what a process prints, in the
// order in which it arrives, and shows it as it comes.
type capture struct {
	log func(stream, text string)

	mu    sync.Mutex // guards what follows
	head  []byte
	tail  []byte // at most twice tailBytes, so that it is moved rarely
	lost  int64  // bytes between head and tail
	news  chan struct{}
	shown int
}

func newCapture(log func(stream, text string)) *capture {
	return &capture{log: log, news: make(chan struct{})}
}

// stream is a writer for one of the process's streams.
func (c *capture) stream(name string) io.Writer { return &stream{capture: c, name: name} }

type stream struct {
	*capture
	name string
	rest []byte // the beginning of a character that was cut
}

// Write never fails and never keeps more than its bounds.
func (s *stream) Write(p []byte) (int, error) {
	if shown := s.keep(p); s.log == nil || shown > shownBytes {
		return len(p), nil
	}
	text := append(s.rest, p...)
	whole := wholeRunes(text)
	s.rest = append([]byte(nil), text[whole:]...)
	s.show(s.name, text[:whole])
	return len(p), nil
}

// keep takes more output, and returns how much was shown of what came before.
func (c *capture) keep(p []byte) (shown int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.news)
	c.news = make(chan struct{})
	n := min(len(p), headBytes-len(c.head))
	c.head = append(c.head, p[:n]...)
	if c.tail = append(c.tail, p[n:]...); len(c.tail) > 2*tailBytes {
		over := len(c.tail) - tailBytes
		c.lost += int64(over)
		c.tail = c.tail[:copy(c.tail, c.tail[over:])]
	}
	return c.shown
}

// show passes text on until there was enough of it.
func (c *capture) show(stream string, text []byte) {
	c.mu.Lock()
	left := shownBytes - c.shown
	c.shown += len(text)
	c.mu.Unlock()
	switch {
	case len(text) == 0 || left <= 0:
	case len(text) <= left:
		c.log(stream, strings.ToValidUTF8(string(text), "\uFFFD"))
	default:
		text = text[:wholeRunes(text[:left])]
		c.log(stream, strings.ToValidUTF8(string(text), "\uFFFD")+"\n[more output is not shown while it runs]\n")
	}
}

// end wakes who waits for news: there will be no more.
func (c *capture) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.news)
	c.news = make(chan struct{})
}

// waiting reports whether there is something to take, and the channel that is
// closed when that may have changed.
func (c *capture) waiting() (some bool, news <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.head) > 0, c.news
}

// take returns what has come since it was last called, as text that says what
// is missing.
func (c *capture) take() string {
	c.mu.Lock()
	head, tail, lost := c.head, c.tail, c.lost
	c.head, c.tail, c.lost = nil, nil, 0
	c.mu.Unlock()
	if over := len(tail) - tailBytes; over > 0 {
		lost, tail = lost+int64(over), tail[over:]
	}
	text := string(head) + string(tail)
	if lost > 0 {
		text = fmt.Sprintf("%s\n[%d bytes are left out here; to have them all, let the command write to a file]\n%s", head, lost, tail)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// wholeRunes is the length of p without a character that is cut off at its end.
func wholeRunes(p []byte) int {
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				return len(p)
			}
			return i
		}
	}
	return len(p)
}
