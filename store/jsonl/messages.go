package jsonl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"harness"
)

// Sealed messages are two files: their bytes one after the other, and an index
// of entries of a fixed size, so that message n is found without looking at
// others. An entry that is all zero is a message that is not here.
const (
	messagesFile = "messages"
	indexFile    = "messages.index"
	entrySize    = 32
)

// entry is where a message is.
type entry struct {
	at     int64
	sealed harness.Seq // the snapshot that sealed it
	size   uint32
	crc    uint32
}

func (e entry) encode(n int) []byte {
	b := make([]byte, 0, entrySize)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.at))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.sealed))
	b = binary.LittleEndian.AppendUint32(b, e.size)
	b = binary.LittleEndian.AppendUint32(b, e.crc)
	b = binary.LittleEndian.AppendUint32(b, e.check(b, n))
	return append(b, 1, 0, 0, 0) // never all zero
}

func (entry) check(b []byte, n int) uint32 {
	return checksum(binary.LittleEndian.AppendUint64(append([]byte(nil), b[:24]...), uint64(n)))
}

// decodeEntry returns the entry of message n, or false if there is none.
func decodeEntry(b []byte, n int) (e entry, ok bool) {
	e = entry{
		int64(binary.LittleEndian.Uint64(b)), harness.Seq(binary.LittleEndian.Uint64(b[8:])),
		binary.LittleEndian.Uint32(b[16:]), binary.LittleEndian.Uint32(b[20:]),
	}
	return e, b[28] == 1 && e.at >= 0 && e.check(b, n) == binary.LittleEndian.Uint32(b[24:])
}

// shelf is a thread's messages, open for a moment.
type shelf struct{ data, index *os.File }

// openShelf opens the messages in dir; for reading, nil if there are none.
func openShelf(dir string, flags int) (*shelf, error) {
	index, err := os.OpenFile(filepath.Join(dir, indexFile), flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := os.OpenFile(filepath.Join(dir, messagesFile), flags, 0o600)
	if err != nil {
		index.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	return &shelf{data, index}, nil
}

func (s *shelf) close() error { return errors.Join(s.data.Close(), s.index.Close()) }

// entries reads the index from message n on; missing ones are zero.
func (s *shelf) entries(n, count int) ([]byte, error) {
	b := make([]byte, count*entrySize)
	if _, err := s.index.ReadAt(b, int64(n)*entrySize); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// message reads the message of an entry.
func (s *shelf) message(e entry) ([]byte, error) {
	if info, err := s.data.Stat(); err != nil || e.at+int64(e.size) > info.Size() {
		return nil, errors.Join(err, fmt.Errorf("its end is missing: %w", harness.ErrCorrupt))
	}
	b := make([]byte, e.size)
	if _, err := s.data.ReadAt(b, e.at); err != nil {
		return nil, err
	}
	if checksum(b) != e.crc {
		return nil, fmt.Errorf("wrong checksum: %w", harness.ErrCorrupt)
	}
	return b, nil
}

// add keeps the messages of a snapshot that are not there yet, durably.
func (s *shelf) add(snap harness.Snapshot) error {
	at, err := s.data.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	have, err := s.entries(snap.First, len(snap.Sealed))
	if err != nil {
		return err
	}
	var data []byte
	for i, m := range snap.Sealed {
		n, old := snap.First+i, have[i*entrySize:(i+1)*entrySize]
		if e, ok := decodeEntry(old, n); ok {
			if _, err := s.message(e); err == nil {
				continue
			}
		}
		copy(old, entry{at + int64(len(data)), snap.Seq, uint32(len(m)), checksum(m)}.encode(n))
		data = append(data, m...)
	}
	if len(data) > 0 {
		_, err = s.data.WriteAt(data, at)
	}
	if err == nil {
		err = s.data.Sync()
	}
	if err == nil {
		_, err = s.index.WriteAt(have, int64(snap.First)*entrySize)
	}
	if err == nil {
		err = s.index.Sync()
	}
	return err
}
