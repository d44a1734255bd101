// Package archive keeps a session in a file: its events, one envelope a line,
// exactly as the log has them, and a last line that seals them with their
// count and checksum.
//
// It guarantees that what Read yields, and Read ends without an error, is
// byte for byte what Write was given. It does not keep snapshots: they can
// always be folded again.
package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"harness"
	"harness/internal/strict"
)

// seal is the last line.
type seal struct {
	Archive int    `json:"archive"` // version of this form
	Events  uint64 `json:"events"`
	SHA256  string `json:"sha256"` // of all lines before this one, line ends included
}

const version = 1

// maxLine bounds one event of an archive; the largest a session can hold is
// far below.
const maxLine = 64 << 20

// envelope is how deep a line is ours and must have one meaning: the event and
// its payload. What stands in there may be of an engine or a tool, and is kept
// as it was said.
const envelope = 2

// Write writes events as an archive.
func Write(w io.Writer, events iter.Seq2[harness.Event, error]) error {
	buf := bufio.NewWriter(w)
	sum := sha256.New()
	out := io.MultiWriter(buf, sum)
	s := seal{Archive: version}
	for e, err := range events {
		if err != nil {
			return err
		}
		if _, err := out.Write(append(e.JSON()[:len(e.JSON()):len(e.JSON())], '\n')); err != nil {
			return fmt.Errorf("write archive: %w", err)
		}
		s.Events++
	}
	s.SHA256 = hex.EncodeToString(sum.Sum(nil))
	last, err := json.Marshal(s)
	if err == nil {
		_, err = buf.Write(append(last, '\n'))
	}
	if err == nil {
		err = buf.Flush()
	}
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}

// Read yields the events of an archive. Its last error says whether the
// archive was whole: an archive that is cut, changed or out of order is
// ErrCorrupt, with its place.
func Read(r io.Reader) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		if err := read(r, func(e harness.Event) bool { return yield(e, nil) }); err != nil && !errors.Is(err, errStop) {
			yield(harness.Event{}, err)
		}
	}
}

var errStop = errors.New("reader stopped")

func read(r io.Reader, yield func(harness.Event) bool) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	sum := sha256.New()
	var n, last uint64
	for line := 1; lines.Scan(); line++ {
		raw := lines.Bytes()
		var s struct {
			seal
			Seq json.RawMessage `json:"seq"` // an event may have a field of any name, and has this one
		}
		if bytes.HasPrefix(raw, []byte(`{"archive":`)) && json.Unmarshal(raw, &s) == nil && s.Archive != 0 && s.Seq == nil {
			return check(s.seal, n, hex.EncodeToString(sum.Sum(nil)), lines.Scan())
		}
		sum.Write(raw)
		sum.Write([]byte{'\n'})
		if bytes.HasPrefix(raw, []byte("{")) {
			raw = bytes.Clone(raw) // an event keeps it; what is none costs no more than its reading
		}
		if err := strict.Outer(raw, maxLine, envelope); err != nil {
			return fmt.Errorf("archive line %d: %w: %w", line, err, harness.ErrCorrupt)
		}
		e, err := harness.DecodeEvent(raw)
		if err != nil {
			return fmt.Errorf("archive line %d: %w", line, err)
		}
		if uint64(e.Seq) != last+1 {
			return fmt.Errorf("archive line %d: event %d follows %d: %w", line, e.Seq, last, harness.ErrCorrupt)
		}
		n, last = n+1, uint64(e.Seq)
		if !yield(e) {
			return errStop
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read archive: %w", err)
	}
	return fmt.Errorf("the archive ends after event %d without its seal: it was cut: %w", last, harness.ErrCorrupt)
}

func check(s seal, n uint64, sum string, more bool) error {
	switch {
	case s.Archive > version:
		return fmt.Errorf("archive version %d is newer than this build: %w", s.Archive, harness.ErrUnsupported)
	case s.Events != n:
		return fmt.Errorf("the archive has %d events, its seal says %d: %w", n, s.Events, harness.ErrCorrupt)
	case s.SHA256 != sum:
		return fmt.Errorf("the archive was changed: its checksum is %s, its seal says %s: %w", sum, s.SHA256, harness.ErrCorrupt)
	case more:
		return fmt.Errorf("the archive goes on behind its seal: %w", harness.ErrCorrupt)
	}
	return nil
}
