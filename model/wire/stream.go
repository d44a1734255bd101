package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Event is one of a stream, with its data in one piece.
type Event struct {
	Type string
	Data []byte // good until the next
}

// maxLine bounds a line of a stream, which is an event or most of one.
const maxLine = 32 << 20

// Stream is the events of an answer, each decoded into a T. It is read by one
// goroutine.
type Stream[T any] struct {
	body  io.ReadCloser
	lines *bufio.Scanner
	sort  func(Event) (skip bool, err error)
	loose bool
	data  []byte
	cur   T
	err   error
}

// NewStream reads events from a body, which it owns. sort says which of them
// are passed over; its error ends the stream, io.EOF without being one. A loose
// stream takes fields whose type is not the expected one for absent.
func NewStream[T any](body io.ReadCloser, loose bool, sort func(Event) (skip bool, err error)) *Stream[T] {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	return &Stream[T]{body: body, lines: lines, sort: sort, loose: loose}
}

// Next reads to the next event. It reports false at the end; Err says whether
// that was one.
func (s *Stream[T]) Next() bool {
	for s.err == nil {
		e, ok := s.event()
		if !ok {
			if s.err = s.lines.Err(); s.err == nil {
				s.err = io.EOF
			}
			return false
		}
		skip, err := s.sort(e)
		if err != nil {
			s.err = err
			return false
		}
		if skip {
			continue
		}
		var next T
		err = json.Unmarshal(e.Data, &next)
		if _, shape := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !(shape && s.loose) {
			s.err = err
			return false
		}
		s.cur = next
		return true
	}
	return false
}

// event reads lines up to an empty one. What comes after the last of those is
// no event.
func (s *Stream[T]) event() (e Event, ok bool) {
	s.data = s.data[:0]
	for s.lines.Scan() {
		line := s.lines.Bytes()
		if len(line) == 0 {
			if e.Type == "" && len(s.data) == 0 {
				continue
			}
			e.Data = bytes.TrimSuffix(s.data, []byte("\n"))
			return e, true
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Type = string(value)
		case "data":
			s.data = append(append(s.data, value...), '\n')
		}
	}
	return e, false
}

// Current is the event that was read last.
func (s *Stream[T]) Current() *T { return &s.cur }

// Err is what ended the stream before its end, or nil.
func (s *Stream[T]) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// Close ends the exchange.
func (s *Stream[T]) Close() error { return s.body.Close() }
