package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"harness"
)

// facts are what the files say about a thread.
type facts struct {
	there  bool
	from   *harness.Branch
	end    place // of the last whole commit
	torn   bool  // there is more behind it, that a crash left
	row    harness.Summary
	stale  bool  // the log says more than row
	damage error // why the thread cannot be written, or not read to its end
}

// inspect reads meta.json and, only if the log has another length than that
// says, the log's end. It changes nothing. Its error says that nothing could be
// learnt.
func inspect(dir string, id harness.SessionID) (facts, error) {
	m, err := readMeta(dir)
	if err != nil {
		return facts{}, err
	}
	path := filepath.Join(dir, logFile)
	info, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return facts{}, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	case m != nil && m.Thread != id:
		return facts{}, fmt.Errorf("the directory is thread %q's: %w", m.Thread, harness.ErrInvalid)
	case err != nil && (m == nil || m.Size == 0):
		return facts{}, nil
	case err != nil:
		return m.facts(place{0, m.Seq}, damaged(id, 0, "the log is missing")), nil
	case m == nil:
		return inspectLog(path, info.Size(), id)
	case info.Size() < m.Size:
		return m.facts(place{info.Size(), m.Seq}, damaged(id, info.Size(), fmt.Sprintf("the log ends here, %d bytes are missing", m.Size-info.Size()))), nil
	case info.Size() == m.Size:
		return m.facts(place{m.Size, m.Seq}, nil), nil
	}
	log, err := os.Open(path)
	if err != nil {
		return facts{}, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	defer log.Close()
	floor := place{m.Size, m.Seq}
	last, err := end(log, info.Size(), id, floor)
	if err != nil && !errors.Is(err, harness.ErrCorrupt) {
		return facts{}, err
	}
	if err != nil {
		last = floor
	}
	f := m.facts(last, err)
	f.stale, f.torn = err != nil || last != floor, last.at < info.Size() && err == nil
	return f, nil
}

// facts of a thread whose meta.json can be read. A log that nothing was
// committed to is no thread.
func (m *meta) facts(end place, damage error) facts {
	f := facts{there: end.at > 0 || damage != nil, from: m.from(), end: end, row: m.row(), damage: damage}
	f.row.Seq = end.seq
	return f
}

// inspectLog is inspect without meta.json. Where a branch came from is in the
// first event that the kernel writes into one.
func inspectLog(path string, size int64, id harness.SessionID) (facts, error) {
	f := facts{row: harness.Summary{Session: id, Kind: harness.Chat, Status: harness.StatusFailed, Reason: "damaged"}}
	if size == 0 {
		return f, nil
	}
	log, err := os.Open(path)
	if err != nil {
		return facts{}, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	defer log.Close()
	f.end, err = end(log, size, id, place{})
	if err == nil && f.end.at == 0 {
		f.torn = true
		return f, nil // a first commit that never was
	}
	f.there, f.stale = true, true
	if err == nil {
		f.torn = f.end.at < size
		f.from, err = origins(log, f.end.at, id)
	}
	if err != nil && !errors.Is(err, harness.ErrCorrupt) {
		return facts{}, err
	}
	f.damage = err
	f.row.Seq = f.end.seq
	return f, nil
}

// origins reads from a log's first event where the thread branched off, nil if
// it did not.
func origins(log *os.File, size int64, id harness.SessionID) (*harness.Branch, error) {
	stop, err := nextLine(log, 0, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	line := make([]byte, stop-1)
	if _, err := log.ReadAt(line, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	e, _, err := decode(line)
	switch {
	case err != nil:
		return nil, damagedBy(id, 0, err)
	case e.Session != id:
		return nil, damaged(id, 0, fmt.Sprintf("an event of %s", e.Session))
	case e.Seq == 1:
		return nil, nil
	}
	if p, ok := e.Payload.(*harness.SessionState); ok && harness.CheckID("parent", string(p.ParentSessionID)) == nil {
		return &harness.Branch{Session: p.ParentSessionID, Seq: e.Seq - 1}, nil
	}
	return nil, damaged(id, 0, fmt.Sprintf("the log begins at %d, and what it continues was in meta.json, which is lost", e.Seq))
}
