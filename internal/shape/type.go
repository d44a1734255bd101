package shape

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"harness"
)

// Type is a type of a protocol in no language.
type Type struct {
	Name   string // of a declared object
	Kind   string // string, integer, number, boolean, object, array, map, any, or a word of the protocol's own
	Null   bool   // may be null
	Format string
	Words  []string
	Max    int
	Min    *int64
	Elem   *Type
	Fields []Field
}

// Field is a member of an object.
type Field struct {
	Name     string
	Optional bool
	Type     *Type
}

// Set collects the objects that a protocol declares.
type Set struct {
	Named map[string]*Type
	// Own, if set, knows the types that the protocol describes in its own way.
	Own func(t reflect.Type) (*Type, bool)
}

// Sent is the description of a value that is sent.
func (all *Set) Sent(t reflect.Type) *Type {
	if all.Own != nil {
		if x, ok := all.Own(t); ok {
			return x
		}
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return all.Sent(t.Elem())
	case t == reflect.TypeFor[json.RawMessage]():
		return &Type{Kind: "any"}
	case t == reflect.TypeFor[time.Time]():
		return &Type{Kind: "string", Format: "date-time"}
	case t == reflect.TypeFor[harness.Status]():
		s := &Type{Kind: "string"}
		for _, w := range harness.Statuses() {
			s.Words = append(s.Words, string(w))
		}
		return s
	}
	switch t.Kind() {
	case reflect.String:
		return &Type{Kind: "string"}
	case reflect.Bool:
		return &Type{Kind: "boolean"}
	case reflect.Float64:
		return &Type{Kind: "number"}
	case reflect.Int, reflect.Int64:
		return &Type{Kind: "integer"}
	case reflect.Uint64:
		return &Type{Kind: "integer", Min: new(int64(0))}
	case reflect.Slice:
		return &Type{Kind: "array", Elem: all.Sent(t.Elem())}
	case reflect.Map:
		return &Type{Kind: "map", Elem: all.Sent(t.Elem())}
	default:
		return all.object(t)
	}
}

// object declares a struct that is sent.
func (all *Set) object(t reflect.Type) *Type {
	name := declared(t)
	if s, ok := all.Named[name]; ok {
		return s
	}
	s := &Type{Name: name, Kind: "object"}
	all.Named[name] = s
	all.fields(s, t)
	return s
}

// declared is the name of a struct: its own, behind that of its package if it is
// neither the protocol's nor the root's.
func declared(t reflect.Type) string {
	name, at := Title(t.Name()), t.PkgPath()
	if at == "harness" || !strings.HasPrefix(at, "harness/") || strings.HasPrefix(at, "harness/protocol/") || strings.HasPrefix(at, "harness/internal/") {
		return name
	}
	return Title(path.Base(at)) + name
}

// fields adds the members that a struct brings; those of a struct inside it
// without a name of its own are the object's.
func (all *Set) fields(s *Type, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		field, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && field == "" && f.Type.Kind() == reflect.Struct:
			all.fields(s, f.Type)
			continue
		case !f.IsExported() || field == "-":
			continue
		}
		x := all.Sent(f.Type)
		if x.Name == "" {
			x.Null = f.Type.Kind() == reflect.Pointer && !strings.Contains(rest, "omit")
			if words, ok := strings.CutPrefix(f.Tag.Get("rule"), "words="); ok {
				x.Words = strings.Split(words, "|")
			}
		}
		s.Fields = slices.DeleteFunc(s.Fields, func(f Field) bool { return f.Name == field }) // the outer one wins
		s.Fields = append(s.Fields, Field{field, strings.Contains(rest, "omit"), x})
	}
}

// Taken declares a struct that is read, with its rules.
func (all *Set) Taken(t reflect.Type, p *Plan) *Type {
	name := Title(t.Name())
	if s, ok := all.Named[name]; ok {
		return s
	}
	s := &Type{Name: name, Kind: "object"}
	all.Named[name] = s
	s.Fields = all.Rules(p)
	return s
}

// Rules are the fields of a plan, without a name for all of them.
func (all *Set) Rules(p *Plan) []Field {
	var list []Field
	for _, f := range p.fields {
		var x *Type
		switch k := f.of.Kind(); {
		case f.of == anyValue:
			x = &Type{Kind: "any"}
		case k == reflect.Struct:
			x = all.Taken(f.of, f.nested)
		case k == reflect.Slice:
			x = &Type{Kind: "array", Elem: all.Taken(f.of.Elem(), f.nested)}
		case k == reflect.Int64:
			x = &Type{Kind: "integer", Min: f.min, Max: f.max}
		case k == reflect.Float64:
			x = &Type{Kind: "number", Min: f.min, Max: f.max}
		default:
			x = all.Sent(f.of)
			x.Words, x.Max = f.words, f.max
		}
		list = append(list, Field{f.name, !f.required, x})
	}
	return list
}

// Title is a name as declared objects have it.
func Title(s string) string {
	r := []rune(s)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}
