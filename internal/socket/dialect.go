package socket

import (
	"bytes"
	"time"
)

// A dialect is what differs between a server of WebSockets and one of streams.
type dialect struct {
	// unfinished says how many bytes of the frame in flight are still to be
	// sent when n bytes of p are, where the first owed bytes of p belong to the
	// frame that was in flight before. p ends with a whole frame.
	unfinished func(owed int, p []byte, n int) int
	// goodbye appends the last frame.
	goodbye func(dst []byte, code uint16, reason string) []byte

	ping      []byte
	pingAfter time.Duration
	oneWay    bool // the peer is not listened to, nor asked for an answer
}

var frames = dialect{
	unfinished: unfinishedFrame,
	goodbye:    appendClose,
	ping:       []byte{finPing, 0},
	pingAfter:  2 * time.Minute, // 15 µs per ping and pong: 0.13 µs CPU per connection and second
}

var events = dialect{
	unfinished: unfinishedEvent,
	goodbye:    func(dst []byte, _ uint16, _ string) []byte { return dst }, // its end says it
	ping:       []byte(": ping\n\n"),
	pingAfter:  15 * time.Second, // what proxies allow at least, and S3's clients expect
	oneWay:     true,
}

var eventEnd = []byte("\n\n")

// unfinishedEvent is a dialect's unfinished: an event ends with an empty line
// and has none inside.
func unfinishedEvent(owed int, p []byte, n int) int {
	if n <= owed {
		return owed - n
	}
	from := max(n-len(eventEnd), owed)
	if i := bytes.Index(p[from:], eventEnd); i >= 0 {
		return from + i + len(eventEnd) - n
	}
	return len(p) - n
}
