package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"harness"
)

// maxCommit bounds a commit: far above what a turn produces, and so much memory
// may be needed to read one line.
const maxCommit = 64 << 20

// more ends every line of a commit but the last, before its newline.
const more = ' '

// encode is the lines of a commit, or ErrInvalid for what no log can take.
func encode(c harness.Commit) ([]byte, error) {
	size := 2 * len(c.Events)
	for _, e := range c.Events {
		raw := e.JSON()
		if raw[len(raw)-1] != '}' {
			return nil, fmt.Errorf("event %d does not end with its envelope: %w", e.Seq, harness.ErrInvalid)
		}
		size += len(raw)
	}
	if size > maxCommit {
		return nil, fmt.Errorf("a commit of %d bytes, the most is %d: %w", size, maxCommit, harness.ErrTooLarge)
	}
	lines := make([]byte, 0, size)
	for i, e := range c.Events {
		lines = append(lines, e.JSON()...)
		if i < len(c.Events)-1 {
			lines = append(lines, more)
		}
		lines = append(lines, '\n')
	}
	return lines, nil
}

// decode reads a line without its newline, and says whether its commit goes on.
// It takes over the line.
func decode(line []byte) (e harness.Event, goesOn bool, err error) {
	if n := len(line) - 1; n >= 0 && line[n] == more {
		line, goesOn = line[:n:n], true
	}
	e, err = harness.DecodeEvent(line)
	return e, goesOn, err
}

// follows decodes a line that must be the event at seq of thread id.
func follows(line []byte, id harness.SessionID, seq harness.Seq) (e harness.Event, goesOn bool, err error) {
	e, goesOn, err = decode(line)
	if err == nil && (e.Seq != seq || e.Session != id) {
		err = fmt.Errorf("event %d of %s in the place of %d: %w", e.Seq, e.Session, seq, harness.ErrCorrupt)
	}
	return e, goesOn, err
}

// position is the seq of a line, without reading all of it if it was written as
// usual.
func position(line []byte) (harness.Seq, bool) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`)); ok {
		if n := bytes.IndexByte(rest[:min(len(rest), 21)], ','); n > 0 {
			seq, err := strconv.ParseUint(string(rest[:n]), 10, 64)
			return harness.Seq(seq), err == nil && seq > 0
		}
	}
	var env struct {
		Seq harness.Seq `json:"seq"`
	}
	return env.Seq, json.Unmarshal(line, &env) == nil && env.Seq > 0
}

// damaged is ErrCorrupt with its place.
func damaged(id harness.SessionID, at int64, what string) error {
	return damagedBy(id, at, fmt.Errorf("%s: %w", what, harness.ErrCorrupt))
}

// damagedBy is the place of an ErrCorrupt.
func damagedBy(id harness.SessionID, at int64, err error) error {
	return fmt.Errorf("threads/%s/events.jsonl, byte %d: %w", id, at, err)
}
