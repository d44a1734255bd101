package schema

// values are those that something may be: of an enum, or of const.
type values struct {
	texts  map[string]bool // the strings among them
	others map[string]bool // as appendTo writes them
	words  string          // which they are, as far as a problem tells it
}

func valuesOf(all []any) *values {
	set := &values{words: oneOf(all)}
	for _, v := range all {
		if text, ok := v.(string); ok {
			if set.texts == nil {
				set.texts = make(map[string]bool, len(all))
			}
			set.texts[text] = true
			continue
		}
		if set.others == nil {
			set.others = make(map[string]bool, len(all))
		}
		set.others[string(newItem(v).appendTo(nil))] = true
	}
	return set
}

func (r reader) enum() *values {
	v := r.doc["enum"]
	all, ok := v.([]any)
	if !ok {
		if v != nil {
			r.c.fail("enum must be a list")
		}
		return nil
	}
	return valuesOf(all)
}

func (r reader) constant() *values {
	v, ok := r.doc["const"]
	if !ok {
		return nil
	}
	return valuesOf([]any{v})
}

// among reports whether the value that is looked at is one of those of a set.
func (l *look) among(set *values) bool {
	if text, ok := l.v.raw.(string); ok {
		return set.texts[text]
	}
	if set.others == nil {
		return false
	}
	text := l.written(l.v)
	return !l.out && set.others[string(text)]
}

// written is v as appendTo writes it.
func (l *look) written(v *item) []byte {
	l.buffer = v.appendTo(l.buffer[:0])
	l.spend(1 + len(l.buffer)/32)
	return l.buffer
}
