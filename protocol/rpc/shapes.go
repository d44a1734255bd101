package rpc

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode"

	"harness"
)

// notifications are the server's messages, by method.
var notifications = []struct {
	method string
	params reflect.Type
}{
	{"thread.created", reflect.TypeFor[threadCreated]()},
	{"turn.started", reflect.TypeFor[turnStarted]()},
	{"turn.completed", reflect.TypeFor[turnEnded]()},
	{"turn.error", reflect.TypeFor[turnEnded]()},
	{"item.started", reflect.TypeFor[itemStarted]()},
	{"item.delta", reflect.TypeFor[itemDelta]()},
	{"item.completed", reflect.TypeFor[itemCompleted]()},
	{"approval.requested", reflect.TypeFor[approvalRequested]()},
}

// itemData is what an item's data may be.
var itemData = []reflect.Type{
	reflect.TypeFor[userData](), reflect.TypeFor[assistantData](), reflect.TypeFor[toolData](),
	reflect.TypeFor[approvalData](), reflect.TypeFor[replyData](), reflect.TypeFor[artifactData](),
}

// shape is a type of the protocol in neither language.
type shape struct {
	name   string // of a declared object
	kind   string // string, integer, number, boolean, object, array, map, any, data, event
	null   bool   // may be null
	words  []string
	max    int
	min    *int64
	elem   *shape
	fields []shapeField
}

type shapeField struct {
	name     string
	optional bool
	shape    *shape
}

// shapes collects the declared objects.
type shapes map[string]*shape

func (all shapes) of(t reflect.Type) *shape {
	switch {
	case t.Kind() == reflect.Pointer:
		return all.of(t.Elem())
	case t == reflect.TypeFor[event]():
		return &shape{kind: "event"}
	case t == reflect.TypeFor[json.RawMessage]():
		return &shape{kind: "any"}
	case t == reflect.TypeFor[harness.Status]():
		s := &shape{kind: "string"}
		for _, w := range harness.Statuses() {
			s.words = append(s.words, string(w))
		}
		return s
	}
	switch t.Kind() {
	case reflect.String:
		return &shape{kind: "string"}
	case reflect.Bool:
		return &shape{kind: "boolean"}
	case reflect.Float64:
		return &shape{kind: "number"}
	case reflect.Int, reflect.Int64:
		return &shape{kind: "integer"}
	case reflect.Uint64:
		return &shape{kind: "integer", min: new(int64(0))}
	case reflect.Slice:
		return &shape{kind: "array", elem: all.of(t.Elem())}
	case reflect.Map:
		return &shape{kind: "map", elem: all.of(t.Elem())}
	case reflect.Interface:
		return &shape{kind: "data"}
	default:
		return all.object(t)
	}
}

// object declares a struct that is sent.
func (all shapes) object(t reflect.Type) *shape {
	name := title(t.Name())
	if s, ok := all[name]; ok {
		return s
	}
	s := &shape{name: name, kind: "object"}
	all[name] = s
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		field, rest, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		x := all.of(t.Field(i).Type)
		x.null = t.Field(i).Type.Kind() == reflect.Pointer && !strings.Contains(rest, "omit")
		if words, ok := strings.CutPrefix(t.Field(i).Tag.Get("rule"), "words="); ok {
			x.words = strings.Split(words, "|")
		}
		s.fields = append(s.fields, shapeField{field, strings.Contains(rest, "omit"), x})
	}
	return s
}

// params declares a struct that is read, with its rules.
func (all shapes) params(t reflect.Type, p *plan) *shape {
	name := title(t.Name())
	if s, ok := all[name]; ok {
		return s
	}
	s := &shape{name: name, kind: "object"}
	all[name] = s
	for _, f := range p.fields {
		var x *shape
		switch f.of.Kind() {
		case reflect.Struct:
			x = all.params(f.of, f.nested)
		case reflect.Slice:
			x = &shape{kind: "array", elem: all.params(f.of.Elem(), f.nested)}
		case reflect.Int64:
			x = &shape{kind: "integer", min: f.min, max: f.max}
		default:
			x = all.of(f.of)
			x.words, x.max = f.words, f.max
		}
		s.fields = append(s.fields, shapeField{f.name, !f.required, x})
	}
	return s
}

func title(s string) string {
	r := []rune(s)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// protocolShapes declares everything, and says what each method takes and gives.
func protocolShapes() (all shapes, takes, gives, tells map[string]*shape) {
	all, takes, gives, tells = shapes{}, map[string]*shape{}, map[string]*shape{}, map[string]*shape{}
	for _, m := range methods {
		takes[m.name] = all.params(m.takes, m.params)
		gives[m.name] = all.of(m.gives)
	}
	for _, n := range notifications {
		tells[n.method] = all.of(n.params)
	}
	for _, t := range itemData {
		all.of(t)
	}
	all.of(reflect.TypeFor[rpcError]())
	return all, takes, gives, tells
}
