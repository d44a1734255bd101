package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// What a tool takes is one Go struct. Its schema and its decoder are both made
// from the fields' tags:
//
//	doc        what the model is told about the field
//	required   must be there; a text must not be empty, unless "empty" says so
//	min, max   bounds of an integer, or of the length of a text or a list
//	words=a|b  one of these
//
// Fields are texts, integers, booleans, objects, and lists of texts or objects.
// null is as good as leaving a field out.

// rules are what the tags of a field say.
type rules struct {
	name, doc       string
	required, empty bool
	min, max        int // max 0 is none
	words           []string
}

func rulesOf(f reflect.StructField) rules {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	r := rules{name: name, doc: f.Tag.Get("doc")}
	for _, rule := range strings.Fields(f.Tag.Get("rule")) {
		key, value, _ := strings.Cut(rule, "=")
		switch key {
		case "required":
			r.required = true
		case "empty":
			r.empty = true
		case "min":
			r.min, _ = strconv.Atoi(value)
		case "max":
			r.max, _ = strconv.Atoi(value)
		case "words":
			r.words = strings.Split(value, "|")
		default:
			panic("tool: unknown rule " + rule)
		}
	}
	return r
}

// fieldsOf are the fields of a struct; those of an embedded one are its own.
func fieldsOf(t reflect.Type) (list []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			list = append(list, f)
		}
	}
	return list
}

// schemaOf writes the schema of a struct, with its fields in their order.
func schemaOf(t reflect.Type) json.RawMessage {
	var b bytes.Buffer
	writeObject(&b, t, "")
	return b.Bytes()
}

func writeObject(b *bytes.Buffer, t reflect.Type, doc string) {
	b.WriteString(`{"type":"object",`)
	writeDoc(b, doc)
	b.WriteString(`"properties":{`)
	required := []string{}
	for i, f := range fieldsOf(t) {
		r := rulesOf(f)
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(r.name))
		b.WriteByte(':')
		writeField(b, f.Type, r)
		if r.required {
			required = append(required, r.name)
		}
	}
	b.WriteString(`},"required":`)
	b.Write(quoted(required))
	b.WriteString(`,"additionalProperties":false}`)
}

func writeField(b *bytes.Buffer, t reflect.Type, r rules) {
	switch t.Kind() {
	case reflect.Struct:
		writeObject(b, t, r.doc)
		return
	case reflect.Slice:
		b.WriteString(`{"type":"array",`)
		writeDoc(b, r.doc)
		if r.required && !r.empty {
			b.WriteString(`"minItems":1,`)
		}
		if r.max > 0 {
			fmt.Fprintf(b, `"maxItems":%d,`, r.max)
		}
		b.WriteString(`"items":`)
		writeField(b, t.Elem(), rules{})
	case reflect.Bool:
		b.WriteString(`{`)
		writeDoc(b, r.doc)
		b.WriteString(`"type":"boolean"`)
	case reflect.Int:
		b.WriteString(`{`)
		writeDoc(b, r.doc)
		fmt.Fprintf(b, `"type":"integer","minimum":%d`, r.min)
		if r.max > 0 {
			fmt.Fprintf(b, `,"maximum":%d`, r.max)
		}
	case reflect.String:
		b.WriteString(`{`)
		writeDoc(b, r.doc)
		b.WriteString(`"type":"string"`)
		if r.required && !r.empty {
			b.WriteString(`,"minLength":1`)
		}
		if r.max > 0 {
			fmt.Fprintf(b, `,"maxLength":%d`, r.max)
		}
		if r.words != nil {
			fmt.Fprintf(b, `,"enum":%s`, quoted(r.words))
		}
	default:
		panic("tool: no schema for " + t.String())
	}
	b.WriteByte('}')
}

func writeDoc(b *bytes.Buffer, doc string) {
	if doc != "" {
		fmt.Fprintf(b, `"description":%s,`, quoted(doc))
	}
}

// quoted is v as JSON; v is text or a list of texts.
func quoted(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("tool: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decode reads an input. Its error names the field and what it must be.
func decode[T any](raw json.RawMessage) (*T, error) {
	in := new(T)
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	return in, readObject("", raw, reflect.ValueOf(in).Elem())
}

func readObject(path string, raw json.RawMessage, into reflect.Value) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		return fmt.Errorf("%s must be an object", orInput(strings.TrimSuffix(path, ".")))
	}
	var names []string
	for _, f := range fieldsOf(into.Type()) {
		r := rulesOf(f)
		names = append(names, r.name)
		value, ok := given[r.name]
		delete(given, r.name)
		switch {
		case ok && string(value) != "null":
			if err := readField(path+r.name, value, into.FieldByIndex(f.Index), r); err != nil {
				return err
			}
		case r.required:
			return fmt.Errorf("%s%s is missing", path, r.name)
		}
	}
	for name := range given {
		return fmt.Errorf("%s%s is not known; there are %s", path, name, strings.Join(names, ", "))
	}
	return nil
}

func orInput(path string) string {
	if path == "" {
		return "the input"
	}
	return path
}

func readField(path string, raw json.RawMessage, into reflect.Value, r rules) error {
	switch into.Kind() {
	case reflect.Struct:
		return readObject(path+".", raw, into)
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return fmt.Errorf("%s must be a list", path)
		}
		if err := r.length(path, len(items), "entries"); err != nil {
			return err
		}
		into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
		for i, item := range items {
			if err := readField(fmt.Sprintf("%s[%d]", path, i), item, into.Index(i), rules{}); err != nil {
				return err
			}
		}
	case reflect.Bool:
		if json.Unmarshal(raw, into.Addr().Interface()) != nil {
			return fmt.Errorf("%s must be true or false", path)
		}
	case reflect.Int:
		if json.Unmarshal(raw, into.Addr().Interface()) != nil {
			return fmt.Errorf("%s must be an integer", path)
		}
		if n := into.Int(); n < int64(r.min) || r.max > 0 && n > int64(r.max) {
			return fmt.Errorf("%s must be an integer from %d to %s", path, r.min, orAny(r.max))
		}
	default:
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return fmt.Errorf("%s must be a string", path)
		}
		if r.words != nil && !slices.Contains(r.words, s) {
			return fmt.Errorf("%s must be one of %s", path, strings.Join(r.words, ", "))
		}
		into.SetString(s)
		return r.length(path, len(s), "bytes")
	}
	return nil
}

func (r rules) length(path string, n int, of string) error {
	switch {
	case n == 0 && r.required && !r.empty:
		return fmt.Errorf("%s must not be empty", path)
	case r.max > 0 && n > r.max:
		return fmt.Errorf("%s has %d %s; at most %d are allowed", path, n, of, r.max)
	}
	return nil
}

func orAny(n int) string {
	if n == 0 {
		return "any"
	}
	return strconv.Itoa(n)
}
