package postgres

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"harness"
)

// maxCommit bounds a commit's row. It is far above what a turn produces and far
// below what the server can hold.
const maxCommit = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) int64 { return int64(crc32.Checksum(b, castagnoli)) }

// encodeChunk joins the envelopes of a commit, or refuses with ErrTooLarge what
// no row can take.
func encodeChunk(c harness.Commit) ([]byte, error) {
	size := len(c.Events)
	for _, e := range c.Events {
		size += len(e.JSON())
	}
	if size > maxCommit {
		return nil, fmt.Errorf("a commit of %d bytes, the most is %d: %w", size, maxCommit, harness.ErrTooLarge)
	}
	data := make([]byte, 0, size)
	for _, e := range c.Events {
		data = append(append(data, e.JSON()...), '\n')
	}
	return data[:len(data)-1], nil
}

// chunk is a row of the log as it was read.
type chunk struct {
	first, last harness.Seq
	crc         int64
	data        []byte
}

// decode returns the events of a chunk, which must be exactly first to last of
// session id, or ErrCorrupt with its place. It takes over the chunk's data.
func (c chunk) decode(id harness.SessionID) ([]harness.Event, error) {
	broken := func(what string) error {
		return fmt.Errorf("session %s, events %d to %d: %s: %w", id, c.first, c.last, what, harness.ErrCorrupt)
	}
	if checksum(c.data) != c.crc {
		return nil, broken("wrong checksum")
	}
	n := bytes.Count(c.data, []byte{'\n'}) + 1
	if c.first == 0 || c.last < c.first || c.last-c.first != harness.Seq(n-1) {
		return nil, broken(fmt.Sprintf("%d envelopes", n))
	}
	events := make([]harness.Event, 0, n)
	for line := range bytes.SplitSeq(c.data, []byte{'\n'}) {
		e, err := harness.DecodeEvent(line[:len(line):len(line)])
		if err != nil {
			return nil, broken(err.Error())
		}
		if want := c.first + harness.Seq(len(events)); e.Seq != want || e.Session != id {
			return nil, broken(fmt.Sprintf("event %d of %s in the place of %d", e.Seq, e.Session, want))
		}
		events = append(events, e)
	}
	return events, nil
}
