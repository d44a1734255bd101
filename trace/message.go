package trace

import (
	"encoding/binary"
	"math"
)

// message is a message of protobuf, as it is written: fields in the order of
// their numbers, what is zero left out. It is what the spans of OTLP need of
// the format; a test reads them with the library of its makers.
type message []byte

// Kinds of fields.
const (
	kindVarint = 0
	kindFixed  = 1
	kindBytes  = 2
)

func (m *message) key(field, kind int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(kind))
}

// always writes a number, also if it is zero.
func (m *message) always(field int, n uint64) {
	m.key(field, kindVarint)
	*m = binary.AppendUvarint(*m, n)
}

func (m *message) varint(field int, n uint64) {
	if n != 0 {
		m.always(field, n)
	}
}

func (m *message) fixed(field int, n uint64) {
	if n != 0 {
		m.key(field, kindFixed)
		*m = binary.LittleEndian.AppendUint64(*m, n)
	}
}

// double writes a number, also if it is zero.
func (m *message) double(field int, x float64) {
	m.key(field, kindFixed)
	*m = binary.LittleEndian.AppendUint64(*m, math.Float64bits(x))
}

// bytes writes bytes, also if there are none.
func (m *message) bytes(field int, b []byte) {
	m.key(field, kindBytes)
	*m = append(binary.AppendUvarint(*m, uint64(len(b))), b...)
}

func (m *message) text(field int, s string) {
	if s != "" {
		m.bytes(field, valid(s))
	}
}

func (m *message) message(field int, write func(*message)) {
	var inner message
	write(&inner)
	m.bytes(field, inner)
}
