package jsonl

import (
	"bytes"
	"fmt"
	"io"

	"harness"
)

// window is how much of a log's end is looked at first.
const window = 64 << 10

// place is a position in a log: the byte behind an event, and that event.
type place struct {
	at  int64
	seq harness.Seq
}

// end finds where the last whole commit of a log of size bytes ends, from
// behind: its cost does not grow with the log. Whatever is before floor is known
// to be there. What is behind the result is the rest of a write that a crash cut
// short: lines of a commit without its end, a line without its newline, or
// bytes that never arrived and read as NUL. Anything else that is no event of
// id is damage.
func end(log io.ReaderAt, size int64, id harness.SessionID, floor place) (place, error) {
	for n := int64(window); ; n *= 2 {
		from := max(floor.at, size-n)
		data := make([]byte, size-from)
		if _, err := io.ReadFull(io.NewSectionReader(log, from, size-from), data); err != nil {
			return place{}, fmt.Errorf("read the end of threads/%s/events.jsonl: %w: %w", id, err, harness.ErrStorage)
		}
		known := place{-1, 0}
		if from == floor.at {
			known = floor
		} else if cut := bytes.IndexByte(data, '\n') + 1; cut > 0 {
			data, from = data[cut:], from+int64(cut)
		}
		found, err := lastCommit(data, from, id, known)
		if err != nil || found.at >= 0 {
			return found, err
		}
		if n > 2*maxCommit {
			return place{}, damaged(id, from, "no end of a commit behind here")
		}
	}
}

// lastCommit looks at the lines of data, which begin at byte from. It returns
// known if no commit ends in data.
func lastCommit(data []byte, from int64, id harness.SessionID, known place) (place, error) {
	last, at, seq := known, from, known.seq
	for len(data) > 0 {
		n := bytes.IndexByte(data, '\n')
		if n < 0 {
			return last, nil
		}
		e, goesOn, err := decode(bytes.Clone(data[:n]))
		switch {
		case err != nil && bytes.IndexByte(data[:n], 0) >= 0 && !anyEvent(data[n+1:], id):
			return last, nil
		case err != nil:
			return place{}, damagedBy(id, at, err)
		case e.Session != id || seq != 0 && e.Seq != seq+1:
			return place{}, damaged(id, at, fmt.Sprintf("event %d of %s in the place of %d", e.Seq, e.Session, seq+1))
		}
		seq = e.Seq
		at += int64(n) + 1
		data = data[n+1:]
		if !goesOn {
			last = place{at, seq}
		}
	}
	return last, nil
}

// anyEvent reports whether a whole line of data is an event of id.
func anyEvent(data []byte, id harness.SessionID) bool {
	for {
		n := bytes.IndexByte(data, '\n')
		if n < 0 {
			return false
		}
		if e, _, err := decode(bytes.Clone(data[:n])); err == nil && e.Session == id {
			return true
		}
		data = data[n+1:]
	}
}
