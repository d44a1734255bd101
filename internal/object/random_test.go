package object_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"

	"harness/internal/object"
)

// chance makes documents and operations, most of which can be applied.
type chance struct {
	*rand.Rand
	keys []string
}

// inherited are names that generation A finds in every object.
var (
	ordinary  = []string{"a", "b", "content", "", "0", "1", "10", "é\n\"", "__proto_", "z"}
	inherited = append([]string{"toString", "valueOf", "hasOwnProperty"}, ordinary...)
	spoilt    = []string{"__proto__", "constructor", "prototype", "01", "-1", "1.5", "99", "1e+21", "x", "-0", "length", " 0"}
	texts     = []string{"", "x", "token ", "\"\\/", "é", "😀", "\u2028\u0000\n\t", "日本語", "a longer piece of text, plain"}
	scalars   = []string{"null", "true", "false", "0", "-1.5e-3", "12345678901234567890", "1.0"}
)

func newChance(seed, stream uint64, keys []string) chance {
	return chance{rand.New(rand.NewPCG(seed, stream)), keys}
}

func (c chance) pick(from []string) string { return from[c.IntN(len(from))] }

func (c chance) value(depth int) []byte {
	switch n := c.IntN(10); {
	case n < 4 || depth > 3:
		return object.AppendString(nil, c.pick(texts)+c.pick(texts))
	case n < 6:
		return []byte(c.pick(scalars))
	case n < 8:
		out := []byte("[")
		for i := range c.IntN(4) {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = append(out, c.value(depth+1)...)
		}
		return append(out, ']')
	}
	out := []byte("{")
	for i := range c.IntN(4) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(object.AppendString(out, c.pick(c.keys)), " : "...)
		out = append(out, c.value(depth+1)...)
	}
	return append(out, '}')
}

// path leads through doc, now and then beyond it. It returns what is there.
func (c chance) path(doc any) ([]string, any) {
	path := []string{}
	for c.IntN(6) > 0 || len(path) == 0 && c.IntN(6) > 0 {
		if c.IntN(60) == 0 {
			path, doc = append(path, c.pick(spoilt)), nil
			continue
		}
		switch v := doc.(type) {
		case []any:
			i := c.IntN(len(v) + 1)
			path, doc = append(path, strconv.Itoa(i)), nil
			if i < len(v) {
				doc = v[i]
			}
		case map[string]any:
			key := c.pick(c.keys)
			path, doc = append(path, key), v[key]
		case nil:
			path = append(path, c.pick(c.keys))
		default:
			if c.IntN(40) > 0 {
				return path, doc
			}
			path = append(path, c.pick(c.keys))
		}
	}
	return path, doc
}

func (c chance) op(doc any) object.Op {
	path, at := c.path(doc)
	if _, ok := at.(string); ok && c.IntN(5) > 0 || c.IntN(40) == 0 {
		return object.Op{Kind: object.AppendText, Path: path, Text: c.pick(texts)}
	}
	if c.IntN(200) == 0 {
		return object.Op{Kind: "delete", Path: path}
	}
	return object.Op{Kind: object.Set, Path: path, Value: c.value(len(path))}
}

// batch makes n operations, each for the document after those before it.
func (c chance) batch(doc []byte, n int) []object.Op {
	var tree object.Tree
	if err := tree.Apply([]object.Op{{Kind: object.Set, Value: doc}}); err != nil {
		panic(err)
	}
	ops := make([]object.Op, n)
	for i := range ops {
		var v any
		if err := json.Unmarshal(tree.AppendJSON(nil), &v); err != nil {
			panic(err)
		}
		ops[i] = c.op(v)
		_ = tree.Apply(ops[i : i+1]) // a refused one leaves the document to the next
	}
	return ops
}

func encode(ops []object.Op) []byte {
	frame := []byte("[")
	for i := range ops {
		if i > 0 {
			frame = append(frame, ',')
		}
		frame = ops[i].AppendJSON(frame)
	}
	return append(frame, ']')
}
