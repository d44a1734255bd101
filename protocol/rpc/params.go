package rpc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"harness"
)

// A method's parameters are a struct. Its tags say what is checked, and the
// schema is made from the same plan:
//
//	required   must be there; a text must not be empty
//	id         an identifier, as harness.CheckID has it
//	max=N      at most N bytes of text, or an integer of at most N
//	min=N      an integer of at least N
//	words=a|b  one of these
//
// A text without "required" may be empty or left out; a pointer tells the two
// apart. Unknown parameters are ignored.
type plan struct {
	fields []planned
}

type planned struct {
	name     string
	index    int
	of       reflect.Type // without the pointer
	pointer  bool
	required bool
	id       bool
	max      int
	min      *int64
	words    []string
	nested   *plan // of an object, or of an array's objects
}

// planOf reads the tags of a struct; a wrong one is our own mistake.
func planOf(t reflect.Type) *plan {
	p := new(plan)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		x := planned{name: name, index: i, of: f.Type}
		if x.pointer = f.Type.Kind() == reflect.Pointer; x.pointer {
			x.of = f.Type.Elem()
		}
		for _, rule := range strings.Fields(f.Tag.Get("rule")) {
			key, value, _ := strings.Cut(rule, "=")
			switch key {
			case "required":
				x.required = true
			case "id":
				x.id, x.max = true, harness.MaxID
			case "max":
				x.max = number(value)
			case "min":
				x.min = new(int64(number(value)))
			case "words":
				x.words = strings.Split(value, "|")
			default:
				panic("rpc: unknown rule " + rule)
			}
		}
		switch {
		case x.of.Kind() == reflect.Struct:
			x.nested = planOf(x.of)
		case x.of.Kind() == reflect.Slice:
			x.nested = planOf(x.of.Elem())
		}
		p.fields = append(p.fields, x)
	}
	return p
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("rpc: rule: " + err.Error())
	}
	return n
}

// read fills the struct that into points to from a request's params.
func (p *plan) read(raw json.RawMessage, into any) *rpcError {
	if raw == nil {
		raw = json.RawMessage("{}")
	}
	if raw[0] != '{' {
		return badParam("params", "must be an object")
	}
	return p.object("", raw, reflect.ValueOf(into).Elem())
}

// object reads the fields of an object in the order of the struct.
func (p *plan) object(path string, raw []byte, into reflect.Value) *rpcError {
	given := make([][]byte, len(p.fields))
	for key, value := range members(raw) {
		for i := range p.fields {
			if p.fields[i].name == key {
				given[i] = value
			}
		}
	}
	for i := range p.fields {
		f := &p.fields[i]
		switch {
		case given[i] != nil:
			if err := f.value(path+f.name, given[i], into.Field(f.index)); err != nil {
				return err
			}
		case f.required:
			return badParam(path+f.name, "missing, must be "+f.kind())
		}
	}
	return nil
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
	default:
		return "an integer"
	}
}

func (f *planned) value(path string, raw []byte, into reflect.Value) *rpcError {
	if f.pointer {
		into.Set(reflect.New(f.of))
		into = into.Elem()
	}
	wrong := func() *rpcError { return badParam(path, "must be "+f.kind()) }
	switch f.of.Kind() {
	case reflect.String:
		s, ok := unquote(raw)
		if !ok {
			return wrong()
		}
		into.SetString(s)
		return f.text(path, s)
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
	default:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		switch {
		case err != nil:
			return wrong()
		case f.min != nil && n < *f.min:
			return badParam(path, fmt.Sprintf("must be at least %d", *f.min))
		case f.max > 0 && n > int64(f.max):
			return badParam(path, fmt.Sprintf("must be at most %d", f.max))
		}
		into.SetInt(n)
	}
	return nil
}

func (f *planned) text(path, s string) *rpcError {
	switch {
	case f.required && s == "":
		return badParam(path, "must not be empty")
	case f.max > 0 && len(s) > f.max:
		return badParam(path, fmt.Sprintf("longer than %d bytes", f.max))
	case f.words != nil && !slices.Contains(f.words, s):
		return badParam(path, "must be one of "+strings.Join(f.words, ", "))
	case f.id && s != "":
		if err := harness.CheckID(path, s); err != nil {
			return badParam(path, strings.TrimPrefix(harness.ClientText(err), path+": "))
		}
	}
	return nil
}

func (f *planned) list(path string, raw []byte, into reflect.Value) *rpcError {
	for e := range elements(raw) {
		at := fmt.Sprintf("%s[%d]", path, into.Len())
		if e[0] != '{' {
			return badParam(at, "must be an object")
		}
		into.Set(reflect.Append(into, reflect.New(f.of.Elem()).Elem()))
		if err := f.nested.object(at+".", e, into.Index(into.Len()-1)); err != nil {
			return err
		}
	}
	if f.required && into.Len() == 0 {
		return badParam(path, "must not be empty")
	}
	return nil
}
