package socket

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// maxControl is the payload limit of a control frame (RFC 6455, 5.5).
const maxControl = ws.MaxControlFramePayloadSize

// keepMessage is the largest message buffer a pooled parser keeps. Larger ones
// are rare (a pasted file) and would pin a megabyte per pool entry.
const keepMessage = 64 << 10

// happening is what a parser found in the bytes.
type happening uint8

const (
	nothing happening = iota // all bytes are used up
	message                  // payload is a whole text message
	refused                  // refusal tells which message was skipped
	pinged                   // payload is to be sent back
	ponged
	closed // payload is a checked close payload
)

type event struct {
	what    happening
	payload []byte // valid until the next call of next
	refusal Refusal
}

// A parser turns the bytes of one client into events, whatever pieces the
// bytes come in. Its zero value, with limits set, is at the start of a stream.
// It holds no more than limit bytes of payload, and takes them from budget.
type parser struct {
	limit int64 // of a message that is delivered
	skip  int64 // of a message that is skipped instead

	head   [ws.MaxHeaderSize]byte // a header of which not all bytes came
	headed int
	frame  ws.Header // the frame in progress, if framed
	framed bool
	got    int64 // bytes of its payload that came

	began  tick      // when the message or frame in progress was first seen; 0: none is
	op     ws.OpCode // of the message in progress; OpContinuation: none
	size   int64     // its announced bytes
	msg    []byte    // its bytes
	done   bool      // msg was delivered and is free to be overwritten
	shed   bool      // msg did not fit into the budget and is being skipped
	budget *budget
	ctl    [maxControl]byte
	reader bytes.Reader
}

// idle says that the stream is between messages, so that the parser holds
// nothing and may be given back.
func (p *parser) idle() bool {
	return p.headed == 0 && !p.framed && p.op == ws.OpContinuation
}

// reset makes p fit for another connection.
func (p *parser) reset() {
	msg := p.msg
	if cap(msg) > keepMessage {
		msg = nil
	}
	p.drop()
	*p = parser{limit: p.limit, skip: p.skip, budget: p.budget, msg: msg[:0]}
}

// drop forgets the bytes of the message in progress.
func (p *parser) drop() {
	p.budget.give(len(p.msg))
	p.msg = p.msg[:0]
}

// next uses up bytes of b (unmasking in place) until something happened, and
// returns the bytes after that. A failure ends the stream.
func (p *parser) next(b []byte) (event, []byte, *CloseError) {
	if p.done {
		p.done = false
		p.drop()
	}
	for {
		if !p.framed {
			var whole bool
			if b, whole = p.readHead(b); !whole {
				return event{}, b, nil
			}
			if fail := p.begin(); fail != nil {
				return event{}, b, fail
			}
		}
		n := min(int64(len(b)), p.frame.Length-p.got)
		part := b[:n]
		b = b[n:]
		ws.Cipher(part, p.frame.Mask, int(p.got&3))
		p.got += n
		last := p.got == p.frame.Length
		p.framed = !last

		if p.frame.OpCode.IsControl() {
			copy(p.ctl[p.got-n:], part)
			if !last {
				return event{}, b, nil
			}
			ev, fail := control(p.frame.OpCode, p.ctl[:p.got])
			return ev, b, fail
		}
		ev, fail := p.data(part, last)
		if ev.what != nothing || fail != nil || len(b) == 0 {
			return ev, b, fail
		}
	}
}

// readHead takes a frame's header from b and says whether all of it was there.
func (p *parser) readHead(b []byte) ([]byte, bool) {
	for {
		need := 2
		if p.headed >= 2 {
			need = headLen(p.head[1])
		}
		n := copy(p.head[p.headed:need], b)
		p.headed += n
		b = b[n:]
		switch {
		case p.headed < need:
			return b, false
		case need > 2 || headLen(p.head[1]) == 2:
			return b, true
		}
	}
}

// headLen is the length of a header with this second byte.
func headLen(second byte) int {
	n := 2
	switch second & 0x7f {
	case 126:
		n += 2
	case 127:
		n += 8
	}
	if second&0x80 != 0 {
		n += 4
	}
	return n
}

// begin checks the header that was read and starts its frame.
func (p *parser) begin() *CloseError {
	p.reader.Reset(p.head[:p.headed])
	p.headed = 0
	h, err := ws.ReadHeader(&p.reader)
	if err != nil {
		return failure(codeProtocol, err.Error())
	}
	state := ws.StateServerSide
	if p.op != ws.OpContinuation {
		state = state.Set(ws.StateFragmented)
	}
	if err := ws.CheckHeader(h, state); err != nil {
		return failure(codeProtocol, err.Error())
	}
	p.frame, p.framed, p.got = h, true, 0
	if h.OpCode.IsControl() {
		return nil
	}
	if h.OpCode != ws.OpContinuation {
		p.op, p.size = h.OpCode, 0
	}
	if h.Length > p.skip-p.size {
		return failure(codeTooBig, "message too big")
	}
	p.size += h.Length
	return nil
}

// data adds part to the message in progress. last says that the frame ends
// with it.
func (p *parser) data(part []byte, last bool) (event, *CloseError) {
	last = last && p.frame.Fin
	if last {
		defer func() { p.op, p.shed = ws.OpContinuation, false }()
	}
	whole := last && len(p.msg) == 0 // part is all of it
	switch {
	case p.op == ws.OpBinary || p.size > p.limit:
		p.shed = true
	case !whole && !p.shed:
		p.shed = !p.budget.take(len(part))
	}
	if p.shed {
		p.drop()
		if !last {
			return event{}, nil
		}
		return event{what: refused, refusal: Refusal{Size: p.size, Binary: p.op == ws.OpBinary, Busy: p.op != ws.OpBinary && p.size <= p.limit}}, nil
	}
	text := part
	if !whole {
		p.msg = append(p.msg, part...)
		text = p.msg
	}
	if !last {
		return event{}, nil
	}
	p.done = true
	if !utf8.Valid(text) {
		return event{}, failure(codeText, "text is not UTF-8")
	}
	return event{what: message, payload: text}, nil
}

func control(op ws.OpCode, payload []byte) (event, *CloseError) {
	switch op {
	case ws.OpPing:
		return event{what: pinged, payload: payload}, nil
	case ws.OpPong:
		return event{what: ponged}, nil
	}
	switch {
	case len(payload) == 1:
		return event{}, failure(codeProtocol, "half a close code")
	case len(payload) > 1 && !sendable(binary.BigEndian.Uint16(payload)):
		return event{}, failure(codeProtocol, "invalid close code")
	case len(payload) > 2 && !utf8.Valid(payload[2:]):
		return event{}, failure(codeText, "close reason is not UTF-8")
	}
	return event{what: closed, payload: payload}, nil
}
