package shape

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"harness"
)

// Read fills the struct that into points to from an object, which is known to
// be valid JSON and begins with its brace.
func (p *Plan) Read(raw []byte, into any) *Wrong {
	return p.object("", raw, reflect.ValueOf(into).Elem())
}

// Values fills the struct that into points to from texts by name, as they
// stand in a path and a query; none of its fields is an object or an array.
func (p *Plan) Values(get func(name string) (string, bool), into any) *Wrong {
	v := reflect.ValueOf(into).Elem()
	for i := range p.fields {
		f := &p.fields[i]
		s, given := get(f.name)
		if !given {
			if f.required {
				return f.missing("")
			}
			continue
		}
		raw := []byte(s)
		if f.of.Kind() == reflect.String {
			if err := f.text(f.name, s, f.settable(v.FieldByIndex(f.index))); err != nil {
				return err
			}
			continue
		}
		if f.of.Kind() == reflect.Bool && s != "true" && s != "false" || s == "" {
			return &Wrong{f.name, "must be " + f.kind()}
		}
		if err := f.value(f.name, raw, v.FieldByIndex(f.index)); err != nil {
			return err
		}
	}
	return nil
}

// object reads the fields of an object in the order of the struct.
func (p *Plan) object(path string, raw []byte, into reflect.Value) *Wrong {
	given := make([][]byte, len(p.fields))
	for key, value := range Members(raw) {
		i := slices.IndexFunc(p.fields, func(f planned) bool { return f.name == key })
		switch {
		case i >= 0:
			given[i] = value
		case p.exact:
			return &Wrong{path + Clip(key), "there is no such field here; there are " + p.names()}
		}
	}
	for i := range p.fields {
		f := &p.fields[i]
		switch {
		case given[i] != nil:
			if err := f.value(path+f.name, given[i], into.FieldByIndex(f.index)); err != nil {
				return err
			}
		case f.required:
			return f.missing(path)
		}
	}
	return nil
}

// Clip is a client's word, if an error can carry it. Of one that is longer it is
// the length: half of a secret is one that nobody recognises.
func Clip(s string) string {
	const enough = 64
	if len(s) <= enough {
		return s
	}
	return fmt.Sprintf("… (%d bytes)", len(s))
}

func (f *planned) missing(path string) *Wrong {
	return &Wrong{path + f.name, "missing, must be " + f.kind()}
}

// kind says what a value must be.
func (f *planned) kind() string {
	switch f.of.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct:
		return "an object"
	case reflect.Slice:
		return "an array"
	case reflect.Float64:
		return "a number"
	default:
		return "an integer"
	}
}

// settable is where a value goes, behind the pointer if there is one.
func (f *planned) settable(into reflect.Value) reflect.Value {
	if f.pointer {
		into.Set(reflect.New(f.of))
		return into.Elem()
	}
	return into
}

func (f *planned) value(path string, raw []byte, into reflect.Value) *Wrong {
	into = f.settable(into)
	wrong := func() *Wrong { return &Wrong{path, "must be " + f.kind()} }
	if f.of == anyValue {
		into.SetBytes(bytes.Clone(raw))
		return nil
	}
	switch f.of.Kind() {
	case reflect.String:
		s, ok := Unquote(raw)
		if !ok {
			return wrong()
		}
		return f.text(path, s, into)
	case reflect.Bool:
		if raw[0] != 't' && raw[0] != 'f' {
			return wrong()
		}
		into.SetBool(raw[0] == 't')
	case reflect.Struct:
		if raw[0] != '{' {
			return wrong()
		}
		return f.nested.object(path+".", raw, into)
	case reflect.Slice:
		if raw[0] != '[' {
			return wrong()
		}
		return f.list(path, raw, into)
	case reflect.Float64:
		x, err := strconv.ParseFloat(string(raw), 64)
		switch {
		case err != nil:
			return wrong()
		case f.min != nil && x < float64(*f.min):
			return &Wrong{path, fmt.Sprintf("must be at least %d", *f.min)}
		case f.max > 0 && x > float64(f.max):
			return &Wrong{path, fmt.Sprintf("must be at most %d", f.max)}
		}
		into.SetFloat(x)
	default:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		switch {
		case err != nil:
			return wrong()
		case f.min != nil && n < *f.min:
			return &Wrong{path, fmt.Sprintf("must be at least %d", *f.min)}
		case f.max > 0 && n > int64(f.max):
			return &Wrong{path, fmt.Sprintf("must be at most %d", f.max)}
		}
		into.SetInt(n)
	}
	return nil
}

func (f *planned) text(path, s string, into reflect.Value) *Wrong {
	into.SetString(s)
	switch {
	case f.required && s == "":
		return &Wrong{path, "must not be empty"}
	case f.max > 0 && len(s) > f.max:
		return &Wrong{path, fmt.Sprintf("longer than %d bytes", f.max)}
	case f.words != nil && !slices.Contains(f.words, s):
		return &Wrong{path, "must be one of " + strings.Join(f.words, ", ")}
	case f.id && s != "":
		if err := harness.CheckID(path, s); err != nil {
			return &Wrong{path, strings.TrimPrefix(harness.ClientText(err), path+": ")}
		}
	}
	return nil
}

func (f *planned) list(path string, raw []byte, into reflect.Value) *Wrong {
	for e := range Elements(raw) {
		at := fmt.Sprintf("%s[%d]", path, into.Len())
		if e[0] != '{' {
			return &Wrong{at, "must be an object"}
		}
		into.Set(reflect.Append(into, reflect.New(f.of.Elem()).Elem()))
		if err := f.nested.object(at+".", e, into.Index(into.Len()-1)); err != nil {
			return err
		}
	}
	if f.required && into.Len() == 0 {
		return &Wrong{path, "must not be empty"}
	}
	return nil
}
