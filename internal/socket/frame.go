package socket

import (
	"encoding/binary"
	"strings"
)

// First header bytes of the frames a server sends: FIN and the opcode.
const (
	finText  = 0x81
	finClose = 0x88
	finPing  = 0x89
	finPong  = 0x8a
)

// reserve is the header length BeginText leaves room for: right for payloads
// of 126 to 65,535 bytes, which most state changes are, so that EndText seldom
// has to move the payload.
const reserve = 4

// AppendText appends payload as one unmasked text frame.
func AppendText(dst, payload []byte) []byte {
	return append(appendHeader(dst, finText, len(payload)), payload...)
}

// BeginText opens a text frame whose payload the caller will append to the
// result. The mark is for EndText.
func BeginText(dst []byte) (_ []byte, mark int) {
	return append(dst, make([]byte, reserve)...), len(dst)
}

// EndText closes the frame opened at mark: everything after the mark becomes
// its payload. It moves the payload if its length needs another header size.
func EndText(dst []byte, mark int) []byte {
	n := len(dst) - mark - reserve
	var room [10]byte
	head := appendHeader(room[:0], finText, n)
	switch start := mark + len(head); {
	case len(head) < reserve:
		copy(dst[start:], dst[mark+reserve:])
		dst = dst[:start+n]
	case len(head) > reserve:
		dst = append(dst, room[:len(head)-reserve]...)
		copy(dst[start:], dst[mark+reserve:mark+reserve+n])
	}
	copy(dst[mark:], head)
	return dst
}

func appendHeader(dst []byte, first byte, n int) []byte {
	switch {
	case n < 126:
		return append(dst, first, byte(n))
	case n <= 0xffff:
		return binary.BigEndian.AppendUint16(append(dst, first, 126), uint16(n))
	default:
		return binary.BigEndian.AppendUint64(append(dst, first, 127), uint64(n))
	}
}

// appendClose appends a close frame. The reason is cut to what a control frame
// can carry; half a code point, which no close frame may have, is left out.
// Code 1005 ("no code was there") sends none.
func appendClose(dst []byte, code uint16, reason string) []byte {
	if code == codeNone {
		return append(dst, finClose, 0)
	}
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxControl-2)], "")
	dst = append(dst, finClose, byte(2+len(reason)))
	dst = binary.BigEndian.AppendUint16(dst, code)
	return append(dst, reason...)
}

// unfinishedFrame is a dialect's unfinished.
func unfinishedFrame(owed int, p []byte, n int) int {
	end := owed
	for end < n {
		end += frameLen(p[end:])
	}
	return min(end, max(len(p), owed)) - n
}

// frameLen is the length of the unmasked frame that p starts with, or len(p)
// if p does not hold its whole header.
func frameLen(p []byte) int {
	switch {
	case len(p) < 2:
		return len(p)
	case p[1] == 126 && len(p) >= 4:
		return 4 + int(binary.BigEndian.Uint16(p[2:]))
	case p[1] == 127 && len(p) >= 10:
		return 10 + int(binary.BigEndian.Uint64(p[2:])&(1<<62-1))
	case p[1] < 126:
		return 2 + int(p[1])
	default:
		return len(p)
	}
}
