package delta

import (
	"slices"
	"sort"

	"harness"
	"harness/internal/socket"
)

// maxRing bounds the finished frames that a lane keeps: enough for any reader
// that merely breathes, little enough that a laggard is better served by a
// fresh state.
const maxRing = 256 << 10

// ring is one contiguous run of finished frames, shared by all watchers of a
// lane. Offsets count from the lane's beginning and never change.
type ring struct {
	buf    []byte
	base   int64   // offset of buf[0]
	frames []frame // where frames begin
}

// frame is a place between two frames: behind seq, at off.
type frame struct {
	off  int64
	from harness.Seq // a client that is at from goes on here
}

// end is the offset behind the last frame.
func (r *ring) end() int64 { return r.base + int64(len(r.buf)) }

// add appends one text frame that takes a client from one position to the
// next. encode appends its payload.
func (r *ring) add(from harness.Seq, encode func(dst []byte) []byte) {
	off := r.end()
	dst, mark := socket.BeginText(r.buf)
	r.buf = socket.EndText(encode(dst), mark)
	r.frames = append(r.frames, frame{off, from})
}

// push appends a text frame that is made.
func (r *ring) push(from harness.Seq, made []byte) {
	r.frames = append(r.frames, frame{r.end(), from})
	r.buf = append(r.buf, made...)
}

// after is the bytes behind off; off is not before base.
func (r *ring) after(off int64) []byte { return r.buf[off-r.base:] }

// at finds where a client that is at seq goes on.
func (r *ring) at(seq harness.Seq) (int64, bool) {
	i := sort.Search(len(r.frames), func(i int) bool { return r.frames[i].from >= seq })
	if i < len(r.frames) && r.frames[i].from == seq {
		return r.frames[i].off, true
	}
	return 0, false
}

// full reports whether the ring should be trimmed.
func (r *ring) full() bool { return len(r.buf) > 2*maxRing }

// trim drops whole frames from the front until at most maxRing is left, but
// never the last one.
func (r *ring) trim() {
	cut := r.end() - maxRing
	i := sort.Search(len(r.frames), func(i int) bool { return r.frames[i].off >= cut })
	i = min(i, len(r.frames)-1)
	if i <= 0 {
		return
	}
	off := r.frames[i].off
	r.buf = append(r.buf[:0], r.buf[off-r.base:]...)
	r.base = off
	r.frames = slices.Delete(r.frames, 0, i)
}
