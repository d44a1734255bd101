package shape

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"harness"
)

// Plan is how a struct is read. Its fields' tags say what is checked:
//
//	required   must be there; a text must not be empty
//	id         an identifier, as harness.CheckID has it
//	max=N      at most N bytes of text, or an integer of at most N
//	min=N      an integer of at least N
//	words=a|b  one of these
//
// A text without "required" may be empty or left out; a pointer tells the two
// apart. What the struct does not name is ignored, unless the plan is exact.
type Plan struct {
	fields []planned
	exact  bool
}

// Exact is the plan for those who refuse what it does not name, at any depth: a
// word that is misspelt must not count as left out.
func (p *Plan) Exact() *Plan {
	strict := &Plan{fields: slices.Clone(p.fields), exact: true}
	for i, f := range strict.fields {
		if f.nested != nil {
			strict.fields[i].nested = f.nested.Exact()
		}
	}
	return strict
}

// names are the fields, in a line.
func (p *Plan) names() string {
	var all []string
	for i := range p.fields {
		all = append(all, p.fields[i].name)
	}
	return strings.Join(all, ", ")
}

// Wrong is a value that breaks its plan.
type Wrong struct {
	Field string // its path: input[0].text
	Why   string
}

type planned struct {
	name     string
	index    []int
	of       reflect.Type // without the pointer
	pointer  bool
	required bool
	id       bool
	max      int
	min      *int64
	words    []string
	nested   *Plan // of an object, or of an array's objects
}

// PlanOf reads the tags of a struct; a wrong one is our own mistake.
func PlanOf(t reflect.Type) *Plan {
	p := new(Plan)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" { // its fields are the object's
			for _, x := range PlanOf(f.Type).fields {
				x.index = append([]int{i}, x.index...)
				p.fields = append(p.fields, x)
			}
			continue
		}
		x := planned{name: name, index: []int{i}, of: f.Type}
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
				panic("shape: unknown rule " + rule)
			}
		}
		switch {
		case x.of == anyValue:
		case x.of.Kind() == reflect.Struct:
			x.nested = PlanOf(x.of)
		case x.of.Kind() == reflect.Slice:
			x.nested = PlanOf(x.of.Elem())
		}
		p.fields = append(p.fields, x)
	}
	return p
}

// anyValue is the type of fields that take every value, as it was written.
var anyValue = reflect.TypeFor[json.RawMessage]()

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("shape: rule: " + err.Error())
	}
	return n
}

// Needs reports whether some field is required.
func (p *Plan) Needs() bool {
	for i := range p.fields {
		if p.fields[i].required {
			return true
		}
	}
	return false
}
