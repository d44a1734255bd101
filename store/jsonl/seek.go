package jsonl

import (
	"bytes"
	"errors"
	"io"

	"harness"
)

// probe is how much is read to find a line near a guess. A range that is not
// longer than near is walked line by line.
const (
	probe = 4 << 10
	near  = 64 << 10
)

// seek finds the byte where event seq begins in a log of size bytes whose first
// event is first, by halving: a few reads, however long the log is. Lines are
// dense, so the last steps only count newlines. A guess that hits something that
// is no event is damage.
func seek(log io.ReaderAt, size int64, id harness.SessionID, first, seq harness.Seq) (int64, error) {
	lo, at, hi := int64(0), first, size // event at begins at lo; seq begins before hi
	for hi-lo > near {
		mid := lo + (hi-lo)/2
		start, err := nextLine(log, mid, hi)
		if err != nil {
			return 0, err
		}
		if start >= hi { // one line reaches from before mid to hi
			hi = mid + 1
			continue
		}
		line, err := readLine(log, start, size)
		if err != nil {
			return 0, err
		}
		have, ok := position(line)
		switch {
		case !ok || have <= at:
			return 0, damaged(id, start, "no event")
		case have <= seq:
			lo, at = start, have
		default:
			hi = mid + 1
		}
	}
	buf := make([]byte, hi-lo)
	if _, err := log.ReadAt(buf, lo); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	for ; at < seq; at++ {
		n := bytes.IndexByte(buf, '\n') + 1
		if n == 0 || n == len(buf) {
			return 0, damaged(id, lo, "the log ends before its last event")
		}
		buf, lo = buf[n:], lo+int64(n)
	}
	return lo, nil
}

// nextLine is where the first line behind byte at begins, or limit.
func nextLine(log io.ReaderAt, at, limit int64) (int64, error) {
	buf := make([]byte, probe)
	for at < limit {
		n, err := log.ReadAt(buf[:min(probe, limit-at)], at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		if at += int64(n); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if n == 0 {
			break
		}
	}
	return limit, nil
}

// readLine returns the beginning of the line at a byte: all of it, unless its
// seq is plain to see before that.
func readLine(log io.ReaderAt, at, limit int64) ([]byte, error) {
	for n := int64(probe); ; n *= 2 {
		buf := make([]byte, min(n, limit-at))
		got, err := log.ReadAt(buf, at)
		buf = buf[:got]
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if i := bytes.IndexByte(buf, '\n'); i >= 0 {
			return buf[:i], nil
		}
		if _, ok := position(buf); ok || int64(got) < n || n > maxCommit {
			return buf, nil
		}
	}
}
