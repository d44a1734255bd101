package strict

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"sync"
)

// MaxDepth is how deep values may be nested: no message of ours is deeper than
// ten, and a tool's arguments are not much deeper.
const MaxDepth = 64

// MaxKeys is how many keys one object may have, and maxOpen all objects
// together that are open at a place. They bound the cost of finding a key that
// is there twice.
const (
	MaxKeys = 512
	maxOpen = 4 * MaxKeys
)

// Check returns nil if text is one value that every reader understands alike
// and no larger than limit, else a [*Fault].
func Check(text []byte, limit int) error { return check(text, limit, MaxDepth, false) }

// Outer is Check for a text that has words of others in it, as they were said:
// only its outermost levels must be as Check wants them. Objects and arrays
// below are skipped, if they are in balance, and strings may have NUL characters
// and halves of surrogate pairs. A decoder still has to look at it.
func Outer(text []byte, limit, levels int) error { return check(text, limit, levels, true) }

func check(text []byte, limit, levels int, said bool) error {
	if len(text) > limit {
		return &Fault{TooLarge, limit}
	}
	c := checkers.Get().(*checker)
	c.b, c.i, c.levels, c.said = text, 0, levels, said
	kind := c.text()
	at := c.i
	for c.depth > 0 { // of a text that is refused
		c.leave()
	}
	c.b = nil
	checkers.Put(c)
	if kind != "" {
		return &Fault{kind, at}
	}
	return nil
}

var checkers = sync.Pool{New: func() any { return &checker{seed: [2]uint64{rand.Uint64(), rand.Uint64()}} }}

// checker is one look at a text. Its methods leave i behind what they have
// seen, or at what is wrong, and return what that is.
type checker struct {
	b     []byte
	i     int
	depth int
	open  [MaxDepth]level

	levels int  // what is deeper is refused, or skipped if it
	said   bool // holds what others have said

	n     int // keys of all open objects
	hash  [maxOpen]uint32
	key   [maxOpen]span
	seed  [2]uint64 // so that nobody can choose keys whose hashes are the same
	table table
}

// level is an array or object that is not closed yet.
type level struct {
	object bool
	tabled bool // its keys are in the table
	keys   int  // index of its first key
}

// span is where a key stands in the text, without its quotes.
type span struct{ from, to int }

func (c *checker) text() Kind {
	if bytes.HasPrefix(c.b, []byte("\xef\xbb\xbf")) {
		return BOM
	}
	c.space()
	if k := c.value(); k != "" {
		return k
	}
	c.space()
	if c.i < len(c.b) {
		return Trailing
	}
	return ""
}

func (c *checker) space() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
			c.i++
		default:
			return
		}
	}
}

// here is the byte at i; 0 at the end, which is no JSON either.
func (c *checker) here() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

// wrong names a byte that JSON does not allow here.
func (c *checker) wrong() Kind {
	switch {
	case c.i >= len(c.b):
		return Short
	case c.b[c.i] == 0:
		return NUL
	}
	return Syntax
}

// value sees one value with everything in it.
func (c *checker) value() Kind {
	for {
		ends, k := c.begin()
		for k == "" && ends {
			if c.depth == 0 {
				return ""
			}
			ends, k = c.next()
		}
		if k != "" {
			return k
		}
	}
}

// begin sees the beginning of a value, and reports whether that was all of it.
func (c *checker) begin() (ends bool, k Kind) {
	switch b := c.here(); {
	case b == '{' || b == '[':
		if c.depth == c.levels {
			if c.said {
				return true, c.skip()
			}
			return false, TooDeep
		}
		c.open[c.depth] = level{object: b == '{', keys: c.n}
		c.depth++
		c.i++
		c.space()
		if c.here() == b+2 { // } and ] are two behind { and [
			c.close()
			return true, ""
		}
		if b == '{' {
			return false, c.name()
		}
		return false, ""
	case b == '"':
		c.i++
		return true, c.string()
	case b == '-' || b >= '0' && b <= '9':
		return true, c.number()
	case b == 't':
		return true, c.word("true")
	case b == 'f':
		return true, c.word("false")
	case b == 'n':
		return true, c.word("null")
	}
	return false, c.wrong()
}

// next sees what stands behind a value in an array or object: another one
// follows, or it is closed and so a value itself.
func (c *checker) next() (ends bool, k Kind) {
	c.space()
	l := c.open[c.depth-1]
	switch b := c.here(); {
	case b == ',':
		c.i++
		c.space()
		if l.object {
			return false, c.name()
		}
		return false, ""
	case b == '}' && l.object, b == ']' && !l.object:
		c.close()
		return true, ""
	}
	return false, c.wrong()
}

func (c *checker) close() {
	c.i++
	c.leave()
}

// leave forgets the innermost array or object.
func (c *checker) leave() {
	c.depth--
	l := &c.open[c.depth]
	if l.tabled {
		c.table.remove(l.keys, c.n)
	}
	c.n = l.keys
}

func (c *checker) word(w string) Kind {
	for j := range len(w) {
		if c.here() != w[j] {
			return c.wrong()
		}
		c.i++
	}
	return ""
}

// number sees a number of RFC 8259 that a float64 can hold.
func (c *checker) number() Kind {
	from := c.i
	if c.here() == '-' {
		c.i++
	}
	switch b := c.here(); {
	case b == '0':
		c.i++
	case b >= '1' && b <= '9':
		c.digits()
	default:
		return c.wrong()
	}
	large := c.i-from > 300 // 10^308 is the end
	if c.here() == '.' {
		c.i++
		if !c.digits() {
			return c.wrong()
		}
	}
	if b := c.here(); b|0x20 == 'e' {
		c.i++
		if b := c.here(); b == '+' || b == '-' {
			c.i++
		}
		start := c.i
		if !c.digits() {
			return c.wrong()
		}
		large = large || c.i-start > 2
	}
	if large {
		if _, err := strconv.ParseFloat(string(c.b[from:c.i]), 64); err != nil {
			c.i = from
			return Number
		}
	}
	return ""
}

func (c *checker) digits() bool {
	from := c.i
	for c.i < len(c.b) && c.b[c.i]-'0' <= 9 {
		c.i++
	}
	return c.i > from
}

// string sees a string whose opening quote is behind i.
func (c *checker) string() Kind {
	for {
		c.plain()
		if c.i >= len(c.b) {
			return Short
		}
		switch b := c.b[c.i]; {
		case b == '"':
			c.i++
			return ""
		case b == '\\':
			_, size, k := escape(c.b[c.i:])
			if c.said && (k == NUL || k == Surrogate) {
				size, k = 6, "" // \uXXXX was there
			}
			if k != "" {
				c.i = min(c.i+size, len(c.b))
				return k
			}
			c.i += size
		case b == 0:
			return NUL
		case b < 0x20:
			return Control
		case b < 0x80:
			c.i++
		default:
			size := sequence(c.b[c.i:])
			if size == 0 {
				return UTF8
			}
			c.i += size
		}
	}
}

// plain skips bytes of a string that need no second look, eight at a time.
func (c *checker) plain() {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for c.i+8 <= len(c.b) {
		w := binary.LittleEndian.Uint64(c.b[c.i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		odd := (w | (w - ones*0x20) | (quote - ones) | (slash - ones)) & highs // perhaps more than there are, never fewer
		if odd != 0 {
			c.i += bits.TrailingZeros64(odd) / 8
			return
		}
		c.i += 8
	}
}
