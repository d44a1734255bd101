// Package chunk is a commit as one row of a store keeps it: its envelopes, a line
// each, and a checksum. What was kept is read back as it was, or is refused with
// its place.
package chunk

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"harness"
)

// Max bounds a commit's row. It is far above what a turn produces and far below
// what any database can hold.
const Max = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is of parts, one behind the other, as a row keeps it.
func Checksum(parts ...[]byte) int64 {
	var sum uint32
	for _, b := range parts {
		sum = crc32.Update(sum, castagnoli, b)
	}
	return int64(sum)
}

// Encode joins the envelopes of a commit, or refuses with ErrTooLarge what no row
// can take.
func Encode(c harness.Commit) ([]byte, error) {
	size := len(c.Events)
	for _, e := range c.Events {
		size += len(e.JSON())
	}
	if size > Max {
		return nil, fmt.Errorf("a commit of %d bytes, the most is %d: %w", size, Max, harness.ErrTooLarge)
	}
	data := make([]byte, 0, size)
	for _, e := range c.Events {
		data = append(append(data, e.JSON()...), '\n')
	}
	return data[:len(data)-1], nil
}

// Chunk is a row of the log as it was read.
type Chunk struct {
	First, Last harness.Seq
	CRC         int64
	Data        []byte
}

// Decode returns the events of a chunk, which must be exactly First to Last of
// session id, or ErrCorrupt with its place. It takes over the chunk's data.
func (c Chunk) Decode(id harness.SessionID) ([]harness.Event, error) {
	broken := func(what string) error {
		return fmt.Errorf("session %s, events %d to %d: %s: %w", id, c.First, c.Last, what, harness.ErrCorrupt)
	}
	if Checksum(c.Data) != c.CRC {
		return nil, broken("wrong checksum")
	}
	n := bytes.Count(c.Data, []byte{'\n'}) + 1
	if c.First == 0 || c.Last < c.First || c.Last-c.First != harness.Seq(n-1) {
		return nil, broken(fmt.Sprintf("%d envelopes", n))
	}
	events := make([]harness.Event, 0, n)
	for line := range bytes.SplitSeq(c.Data, []byte{'\n'}) {
		e, err := harness.DecodeEvent(line[:len(line):len(line)])
		if err != nil {
			return nil, broken(err.Error())
		}
		if want := c.First + harness.Seq(len(events)); e.Seq != want || e.Session != id {
			return nil, broken(fmt.Sprintf("event %d of %s in the place of %d", e.Seq, e.Session, want))
		}
		events = append(events, e)
	}
	return events, nil
}
