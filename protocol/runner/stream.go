package runner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// Stream is the events of a run as they come in.
type Stream struct {
	body io.ReadCloser
	in   *bufio.Reader
}

func newStream(body io.ReadCloser) *Stream {
	return &Stream{body, bufio.NewReaderSize(body, 32<<10)}
}

// Close ends the stream.
func (s *Stream) Close() error { return s.body.Close() }

// Next returns the next event. The end of the stream is io.EOF, also in the
// middle of an event, which is nothing then.
func (s *Stream) Next() (Frame, error) {
	var id, kind, data []byte
	seen, size := false, 0
	for {
		line, err := s.line(&size)
		if err != nil {
			return Frame{}, err
		}
		if len(line) == 0 {
			if !seen { // nothing but comments
				id, kind, size = nil, nil, 0
				continue
			}
			return decode(id, kind, data)
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "id":
			id = bytes.Clone(value)
		case "event":
			kind = bytes.Clone(value)
		case "data":
			if seen {
				data = append(data, '\n')
			}
			data, seen = append(data, value...), true
		}
	}
}

// line reads one line, of an event that may have MaxFrame bytes in all.
func (s *Stream) line(size *int) ([]byte, error) {
	var line []byte
	for {
		part, err := s.in.ReadSlice('\n')
		if *size += len(part); *size > MaxFrame {
			return nil, fault("an event is larger than %d bytes", MaxFrame)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
	}
}

func decode(id, kind, data []byte) (Frame, error) {
	var f Frame
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fault("the data of an event is not JSON of the protocol")
	}
	if len(kind) > 0 {
		if f.Type != "" && string(f.Type) != string(kind) {
			return f, fault("an event is %.100q and says that it is %.100q", kind, f.Type)
		}
		f.Type = Kind(kind)
	}
	if f.Type == "" {
		return f, fault("an event does not say what it is")
	}
	if len(id) > 0 {
		n, err := strconv.ParseUint(string(id), 10, 64)
		if err != nil || n == 0 {
			return f, fault("the id of an event is %.100q", id)
		}
		f.ID = n
	}
	return f, nil
}
