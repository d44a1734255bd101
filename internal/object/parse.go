package object

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth bounds how deep a document may be. JavaScript clients walk it
// recursively and stop at a few thousand levels.
const MaxDepth = 1000

// Normalize returns raw as an operation may carry it: without white space
// between tokens and in valid Unicode, where half a surrogate pair or an
// invalid byte became U+FFFD. Key order and the spelling of numbers stay; of
// equal keys the last value wins. It returns ErrUnsafe for keys that stream
// decoders do not accept, ErrDepth, or ErrValue.
func Normalize(raw []byte) (json.RawMessage, error) {
	v, err := parse(raw, true)
	if err != nil {
		return nil, err
	}
	return appendValue(make([]byte, 0, len(raw)), v), nil
}

// parse reads one JSON value. It keeps no reference to raw. With repair, text
// that is not valid Unicode is replaced and not refused.
func parse(raw []byte, repair bool) (value, error) {
	p := parser{in: raw, repair: repair}
	return p.all()
}

// parser keeps the first error; what it returns after that is of no use.
type parser struct {
	in      []byte
	at      int
	deepest int
	repair  bool
	err     error
}

func (p *parser) all() (value, error) {
	v := p.value(0)
	if p.space(); p.at < len(p.in) {
		p.fail(ErrValue)
	}
	if p.err != nil {
		return nil, fmt.Errorf("byte %d: %w", p.at, p.err)
	}
	return v, nil
}

func (p *parser) fail(err error) value {
	if p.err == nil {
		p.err = err
	}
	return nil
}

func (p *parser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// take skips white space and then c, if it is there.
func (p *parser) take(c byte) bool {
	p.space()
	if p.at < len(p.in) && p.in[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) value(depth int) value {
	p.deepest = max(p.deepest, depth)
	if depth > MaxDepth {
		return p.fail(ErrDepth)
	}
	switch {
	case p.take('{'):
		return p.object(depth)
	case p.take('['):
		return p.list(depth)
	case p.take('"'):
		return &text{p.text()}
	}
	return p.scalar()
}

func (p *parser) object(depth int) value {
	o := &object{}
	if p.take('}') {
		return o
	}
	for p.err == nil {
		if !p.take('"') {
			return p.fail(ErrValue)
		}
		key := string(p.text())
		if !p.take(':') {
			return p.fail(ErrValue)
		}
		v := p.value(depth + 1)
		if i := o.find(key); i >= 0 {
			o.vals[i] = v
		} else {
			o.add(key, v)
		}
		if p.take(',') {
			continue
		}
		switch {
		case !p.take('}'):
			return p.fail(ErrValue)
		case dropped(o):
			return p.fail(ErrUnsafe)
		}
		return o
	}
	return nil
}

// dropped reports whether the stream decoders of assistant-stream refuse o.
func dropped(o *object) bool {
	if o.find("__proto__") >= 0 {
		return true
	}
	i := o.find("constructor")
	if i < 0 {
		return false
	}
	c, ok := o.vals[i].(*object)
	return ok && c.find("prototype") >= 0
}

func (p *parser) list(depth int) value {
	l := &list{}
	if p.take(']') {
		return l
	}
	for p.err == nil {
		l.items = append(l.items, p.value(depth+1))
		if p.take(',') {
			continue
		}
		if !p.take(']') {
			return p.fail(ErrValue)
		}
		return l
	}
	return nil
}

// scalar reads null, true, false or a number.
func (p *parser) scalar() value {
	start := p.at
	for p.at < len(p.in) && (p.in[p.at]|0x20 >= 'a' && p.in[p.at]|0x20 <= 'z' ||
		p.in[p.at] >= '0' && p.in[p.at] <= '9' || p.in[p.at] == '-' || p.in[p.at] == '+' || p.in[p.at] == '.') {
		p.at++
	}
	word := p.in[start:p.at]
	if len(word) == 0 || !json.Valid(word) {
		return p.fail(ErrValue)
	}
	if word[0] == 'n' {
		return nil
	}
	return literal(word)
}

// text reads the rest of a string after its opening quote.
func (p *parser) text() []byte {
	var out []byte
	for p.at < len(p.in) {
		n := plain(p.in[p.at:])
		out = append(out, p.in[p.at:p.at+n]...)
		if p.at += n; p.at == len(p.in) {
			break
		}
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			return out
		case c == '\\':
			out = p.escape(out)
		case c < ' ':
			p.fail(ErrValue)
			return nil
		default:
			r, n := utf8.DecodeRune(p.in[p.at:])
			if r == utf8.RuneError && n == 1 && !p.repair {
				p.fail(ErrText)
			}
			out = utf8.AppendRune(out, r)
			p.at += n
		}
		if p.err != nil {
			return nil
		}
	}
	p.fail(ErrValue)
	return nil
}

// escape reads one escape, or two that make one character.
func (p *parser) escape(out []byte) []byte {
	if p.at+1 >= len(p.in) {
		p.fail(ErrValue)
		return nil
	}
	c := p.in[p.at+1]
	if c == 'u' {
		r := p.unit(p.at)
		p.at += 6
		if utf16.IsSurrogate(r) {
			pair := utf16.DecodeRune(r, p.unit(p.at))
			if pair != utf8.RuneError {
				p.at += 6
			} else if !p.repair {
				p.fail(ErrText)
			}
			r = pair
		} else if r < 0 {
			p.fail(ErrValue)
		}
		return utf8.AppendRune(out, r)
	}
	p.at += 2
	switch c {
	case '"', '\\', '/':
		return append(out, c)
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	}
	p.fail(ErrValue)
	return nil
}

// unit reads the UTF-16 unit of the escape at i, or returns -1.
func (p *parser) unit(i int) rune {
	if i+6 > len(p.in) || p.in[i] != '\\' || p.in[i+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(p.in[i+2:i+6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
