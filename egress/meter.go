package egress

import "bytes"

// meter reads along with an answer and finds its usage. It never changes, holds
// back or keeps a byte of it.
type meter struct {
	told
	events bool // the answer is a stream of server-sent events
	scan   scanner

	line  lineState
	name  int   // how much of "data:" the line has
	cr    bool  // a carriage return came, which a newline may complete
	bytes int64 // of this event's data, or of the answer
	guess int64 // tokens of the events so far, if nobody tells
	came  bool  // the answer has come whole
}

type lineState int

const (
	lineStart lineState = iota
	lineName            // in what may become data:
	lineData            // behind data:
	lineOther
)

// eventFrame is the least that stands in an event beside its text.
const eventFrame = 80

func newMeter(events bool) *meter {
	m := &meter{events: events}
	m.scan.found = m.take
	return m
}

// write reads another part of the answer.
func (m *meter) write(b []byte) {
	if !m.events {
		m.bytes += int64(len(b))
		m.scan.write(b)
		return
	}
	for len(b) > 0 {
		switch m.line {
		case lineStart, lineName:
			m.begin(b[0])
			b = b[1:]
		case lineData, lineOther:
			n := lineEnd(b)
			if m.line == lineData {
				m.bytes += int64(n)
				m.scan.write(b[:n])
			}
			if n < len(b) {
				m.line, m.name, m.cr = lineStart, 0, b[n] == '\r'
				n++
			}
			b = b[n:]
		}
	}
}

// begin takes a byte at the beginning of a line.
func (m *meter) begin(c byte) {
	const data = "data:"
	completed := m.cr && c == '\n'
	m.cr = c == '\r'
	switch {
	case completed:
	case c == '\n' || c == '\r':
		if m.line == lineStart { // an empty one ends an event
			m.event()
		}
		m.line, m.name = lineStart, 0
	case c == data[m.name]:
		m.line = lineName
		if m.name++; m.name == len(data) {
			m.line = lineData
		}
	default:
		m.line = lineOther
	}
}

// event ends the event.
func (m *meter) event() {
	m.scan.end()
	if m.bytes > 0 {
		m.guess += max(1, (m.bytes-eventFrame)/4)
	}
	m.bytes = 0
}

// lineEnd is where a line ends, or len(b).
func lineEnd(b []byte) int {
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		n = len(b)
	}
	if r := bytes.IndexByte(b[:n], '\r'); r >= 0 {
		n = r
	}
	return n
}

// end returns the usage. asked is the model that was asked for, sent the size of
// the request, and most what the answer could have at most.
func (m *meter) end(asked string, sent, most int64) Usage {
	if m.events {
		m.event()
	} else {
		m.scan.end()
		m.guess = m.bytes / 4
	}
	u := m.usage()
	if u.Model == "" {
		u.Model = asked
	}
	if m.final || m.came && m.total > 0 { // Google tells at every event what it was so far
		return u
	}
	u.Estimated = true
	if u.Input+u.CacheRead+u.CacheWrite == 0 {
		u.Input = sent / 4
	}
	u.Output = max(u.Output, min(m.guess, most))
	return u
}
