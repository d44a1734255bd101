package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// dialect turns what is said into the bytes of a protocol.
type dialect interface {
	start(*speaker)
	open(*speaker, *said)
	delta(*speaker, *said, string)
	shut(*speaker, *said)
	finish(*speaker)
	fail(s *speaker, code, text string)
	ping(*speaker)
	whole(*speaker) json.RawMessage // an answer that is not streamed
	complaint(s *speaker, status int, text string) json.RawMessage
}

// said is a block of an answer.
type said struct {
	kind  string // text, thinking, redacted, call
	index int
	id    string
	name  string
	text  string // arguments, for a call
	done  bool
}

// speaker gives one answer.
type speaker struct {
	dialect
	write  func([]byte)
	req    *Request
	blocks []*said
	use    map[string]int64
	stop   string
	seq    int // of Responses
	calls  int
}

// say adds to the last block if it is of that kind and open, or opens one.
func (s *speaker) say(kind, id, name, text string, pieces []string) {
	b := s.last()
	if b == nil || b.done || b.kind != kind || kind == "call" {
		s.close()
		b = &said{kind: kind, index: len(s.blocks), id: id, name: name}
		if kind == "call" {
			if b.id == "" {
				b.id = fmt.Sprintf("%s_%06d_%d", s.callPrefix(), s.req.N, s.calls)
			}
			s.calls++
		}
		s.blocks = append(s.blocks, b)
		if kind == "redacted" { // comes whole
			b.text, text = text, ""
		}
		s.open(s, b)
	}
	b.text += text
	for _, p := range pieces {
		s.delta(s, b, p)
	}
}

func (s *speaker) callPrefix() string {
	if s.req.Format == Messages {
		return "toolu"
	}
	return "call"
}

func (s *speaker) last() *said {
	if len(s.blocks) == 0 {
		return nil
	}
	return s.blocks[len(s.blocks)-1]
}

// close ends the open block, if there is one.
func (s *speaker) close() {
	if b := s.last(); b != nil && !b.done {
		b.done = true
		s.shut(s, b)
	}
}

// reason is why the answer ends, by the words of Messages.
func (s *speaker) reason() string {
	switch {
	case s.stop != "":
		return s.stop
	case s.calls > 0:
		return "tool_use"
	}
	return "end_turn"
}

// tokens is what the script says, or else something that fits.
func (s *speaker) tokens(kind string) int64 {
	if n, ok := s.use[kind]; ok {
		return n
	}
	n := 0
	switch kind {
	case "in":
		n = len(s.req.Body)
	case "out":
		for _, b := range s.blocks {
			n += len(b.text)
		}
	}
	return int64((n + 3) / 4)
}

// event writes a server-sent event; without a name, as Chat does.
func (s *speaker) event(name string, data json.RawMessage) {
	var b []byte
	if name != "" {
		b = append(b, "event: "+name+"\n"...)
	}
	s.write(append(append(append(b, "data: "...), data...), "\n\n"...))
}

// words cuts a text as models do, at the beginning of words.
func words(s string) (pieces []string) {
	for s != "" {
		i := strings.IndexByte(s[1:], ' ') + 1
		if i <= 0 {
			i = len(s)
		}
		pieces, s = append(pieces, s[:i]), s[i:]
	}
	return pieces
}

// bits cuts arguments into pieces of seven bytes, in the middle of words and
// escapes, but of no character.
func bits(s string) (pieces []string) {
	for len(s) > 7 {
		i := 7
		for i > 1 && s[i]&0xC0 == 0x80 {
			i--
		}
		pieces, s = append(pieces, s[:i]), s[i:]
	}
	return append(pieces, s)
}

// obj is a JSON object with its keys in this order.
func obj(kv ...any) json.RawMessage {
	b := []byte{'{'}
	for i := 0; i < len(kv); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, encode(kv[i])...), ':'), encode(kv[i+1])...)
	}
	return append(b, '}')
}

// list is a JSON array.
func list(items ...json.RawMessage) json.RawMessage {
	return append(append(json.RawMessage{'['}, bytes.Join(asBytes(items), []byte{','})...), ']')
}

func asBytes(items []json.RawMessage) (all [][]byte) {
	for _, i := range items {
		all = append(all, i)
	}
	return all
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings, numbers, and what obj and list made
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
