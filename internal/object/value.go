package object

// A value is a node of a document: nil for null, literal for other scalars,
// *text, *list or *object.
type value any

type (
	literal string // true, false or a number, as spelled
	text    struct{ b []byte }
	list    struct{ items []value }
)

// indexedKeys is the number of keys from which an object keeps an index; below
// it, comparing the keys one by one is faster and takes no memory.
const indexedKeys = 12

// object keeps its keys in the order in which they were added.
type object struct {
	keys  []string
	vals  []value
	index map[string]int // nil below indexedKeys
}

// find returns the position of key, or -1.
func (o *object) find(key string) int {
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range o.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// add appends a key that o does not have.
func (o *object) add(key string, v value) {
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, v)
	switch {
	case o.index != nil:
		o.index[key] = len(o.keys) - 1
	case len(o.keys) >= indexedKeys:
		o.index = make(map[string]int, 2*indexedKeys)
		for i, k := range o.keys {
			o.index[k] = i
		}
	}
}

// pop removes the key that was added last.
func (o *object) pop() {
	n := len(o.keys) - 1
	delete(o.index, o.keys[n])
	o.keys[n], o.vals[n] = "", nil
	o.keys, o.vals = o.keys[:n], o.vals[:n]
}

func appendValue(dst []byte, v value) []byte {
	switch v := v.(type) {
	case literal:
		return append(dst, v...)
	case *text:
		return AppendString(dst, v.b)
	case *list:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, item)
		}
		return append(dst, ']')
	case *object:
		dst = append(dst, '{')
		for i, key := range v.keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, key)
			dst = append(dst, ':')
			dst = appendValue(dst, v.vals[i])
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}
