package program

import (
	"bytes"
	"fmt"
)

// Lines cuts what a program prints into lines. It is an io.Writer for one
// goroutine. A line that is too long is reported once, and what follows is lost.
type Lines struct {
	Max  int
	Take func(line []byte, err error) // takes the line over

	part []byte
	lost bool
}

func (l *Lines) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 && !l.lost {
		i := bytes.IndexByte(b, '\n')
		end := i
		if i < 0 {
			end = len(b)
		}
		if len(l.part)+end > l.Max {
			l.lost, l.part = true, nil
			l.Take(nil, fmt.Errorf("a line of more than %d bytes", l.Max))
			break
		}
		l.part = append(l.part, b[:end]...)
		if i < 0 {
			break
		}
		line := l.part
		l.part = nil
		if len(bytes.TrimSpace(line)) > 0 {
			l.Take(line, nil)
		}
		b = b[i+1:]
	}
	return n, nil
}

// End hands over what came after the last line break.
func (l *Lines) End() {
	if len(bytes.TrimSpace(l.part)) > 0 {
		l.Take(l.part, nil)
	}
	l.part = nil
}

// Tail keeps the last bytes of what is written to it, for one goroutine.
type Tail struct{ b []byte }

// maxTail is what an error says of a program's last words.
const maxTail = 2 << 10

func (t *Tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	if n := len(t.b) - maxTail; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(b), nil
}

func (t *Tail) String() string { return string(bytes.TrimSpace(bytes.ToValidUTF8(t.b, nil))) }
