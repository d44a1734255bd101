package postgres

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"harness"
	"harness/internal/chunk"
)

// rowSum is the checksum of what a session's row says of itself, so that a
// flipped bit cannot shorten a log or change a list.
func rowSum(id string, head, updated int64, summary []byte) int64 {
	b := append(make([]byte, 0, 192), id...)
	b = strconv.AppendInt(append(b, ' '), head, 10)
	b = strconv.AppendInt(append(b, ' '), updated, 10)
	return chunk.Checksum(b, summary)
}

// bornSum is the checksum of where a session came from, so that one cannot hang
// it under another parent.
func bornSum(id, origin string, seq int64) int64 {
	return chunk.Checksum(fmt.Appendf(make([]byte, 0, 192), "%s %s %d", id, origin, seq))
}

func brokenRow(id string) error {
	return fmt.Errorf("row of session %s: wrong checksum: %w", id, harness.ErrCorrupt)
}

// word is s as a column of text can hold it: itself, or in quotes if it has bytes
// that the server refuses. Whoever asks for it asks by the same word.
func word(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	return strconv.Quote(s)
}

// checkName refuses the name of a session that the server could not hold.
func checkName(what, s string) error {
	if word(s) != s {
		return fmt.Errorf("%s %q: not text: %w", what, s, harness.ErrInvalid)
	}
	return nil
}

// position is seq as the server counts: one beyond its numbers is the last.
func position(seq harness.Seq) int64 { return int64(min(seq, math.MaxInt64)) }
