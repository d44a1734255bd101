package workspace

import (
	"encoding/binary"
	"math"

	"harness/workspace/object"
)

// reader takes values off the front of a text. After something that is not
// there, or not written the shortest way, it is bad and returns zeros.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) take(n int) string {
	if r.bad || n > len(r.rest) {
		r.bad = true
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	var v uint64
	for i := range binary.MaxVarintLen64 {
		b := r.byte()
		if b < 0x80 {
			if i == binary.MaxVarintLen64-1 && b > 1 || i > 0 && b == 0 {
				break
			}
			return v | uint64(b)<<(7*i)
		}
		v |= uint64(b&0x7f) << (7 * i)
	}
	r.bad = true
	return 0
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) size() int64 {
	u := r.uvarint()
	r.bad = r.bad || u > math.MaxInt64
	return int64(u)
}

func (r *reader) mode() uint32 {
	u := r.uvarint()
	r.bad = r.bad || u > 0o7777
	return uint32(u)
}

func (r *reader) text(limit int) string {
	n := r.uvarint()
	if n > uint64(limit) {
		r.bad = true
		return ""
	}
	return r.take(int(n))
}

func (r *reader) id() (id object.ID) {
	copy(id[:], r.take(len(id)))
	return id
}

func (r *reader) fixed64() uint64 {
	s := r.take(8)
	if s == "" {
		return 0
	}
	var v uint64
	for i := 7; i >= 0; i-- {
		v = v<<8 | uint64(s[i])
	}
	return v
}
