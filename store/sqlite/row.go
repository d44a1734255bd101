package sqlite

import (
	"database/sql/driver"
	"fmt"
	"strconv"

	"harness"
	"harness/internal/chunk"
)

// A damaged page can hold anything, so a value of an unexpected type is a zero
// and not a panic; checksums find what is wrong.

func whole(v driver.Value) int64 { n, _ := v.(int64); return n }

func text(v driver.Value) string { s, _ := v.(string); return s }

func bytesOf(v driver.Value) []byte { b, _ := v.([]byte); return b }

// row is a session's row in the table.
type row struct {
	n         int64
	id        harness.SessionID
	head      harness.Seq
	origin    int64 // 0 without one
	originSeq harness.Seq
	updated   int64
}

// rowColumns are what scanRow reads, rowWidth of them.
const rowColumns = "SELECT n, id, head, origin, origin_seq, updated, crc, summary FROM sessions WHERE "

const rowWidth = 8

// scanRow reads a row and checks it, so that a flipped bit cannot shorten a log
// or hang it under another parent.
func scanRow(v []driver.Value) (r row, summary []byte, err error) {
	r = row{whole(v[0]), harness.SessionID(text(v[1])), harness.Seq(whole(v[2])), whole(v[3]), harness.Seq(whole(v[4])), whole(v[5])}
	summary = bytesOf(v[7])
	if r.sum(summary) != whole(v[6]) {
		return row{}, nil, fmt.Errorf("row of session %s: wrong checksum: %w", r.id, harness.ErrCorrupt)
	}
	return r, summary, nil
}

func (r row) sum(summary []byte) int64 {
	b := make([]byte, 0, 256)
	b = append(b, r.id...)
	for _, n := range []int64{int64(r.head), r.origin, int64(r.originSeq), r.updated} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	return chunk.Checksum(b, summary)
}
