package ts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"harness/protocol/delta"
	"harness/protocol/rest"
)

// The types of the package are those of the code. UPDATE=1 rewrites them.
func TestTypesAreThoseOfTheSchemas(t *testing.T) {
	t.Parallel()
	var ws struct {
		Defs map[string]*schema `json:"$defs"`
	}
	var http struct {
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(delta.Schema(), &ws); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(rest.OpenAPI("0"), &http); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{
		"src/protocol.gen.ts": script("Harness over WebSocket", ws.Defs, slices.Sorted(maps.Keys(ws.Defs))),
		"src/http.gen.ts": script("Harness over HTTP", http.Components.Schemas, reach(http.Components.Schemas,
			"EventPage", "MessagePage", "Snapshot", "SessionPage", "SessionDetail", "ApprovalPage", "ApprovalAnswer", "EngineList", "StreamEvents", "Problem")),
	} {
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the code (%v); run with UPDATE=1", name, err)
		}
	}
}

// schema is as much of JSON Schema as ours use.
type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Const      any
	Enum       []any
	Format     string
	Required   []string
	Properties map[string]*schema
	Additional *schema `json:"additionalProperties"`
	Items      *schema
	OneOf      []*schema
	AnyOf      []*schema
}

// script is TypeScript for the named definitions.
func script(title string, defs map[string]*schema, names []string) []byte {
	var b strings.Builder
	b.WriteString("// " + title + ": made from the Go types by generate_test.go, do not edit.\n")
	for _, name := range names {
		s := defs[name]
		if s.Properties == nil {
			b.WriteString("\nexport type " + name + " = " + s.script() + ";\n")
			continue
		}
		b.WriteString("\nexport interface " + name + " {\n")
		for _, p := range s.members() {
			b.WriteString("  " + p + ";\n")
		}
		b.WriteString("}\n")
	}
	return []byte(b.String())
}

// members are an object's properties, required ones first, then by name.
func (s *schema) members() (list []string) {
	for _, required := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) == required {
				list = append(list, "readonly "+name+map[bool]string{false: "?"}[required]+": "+s.Properties[name].script())
			}
		}
	}
	return list
}

func (s *schema) script() string {
	if s.Ref != "" {
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	}
	if s.Const != nil {
		return literal(s.Const)
	}
	if s.Enum != nil {
		words := make([]string, len(s.Enum))
		for i, w := range s.Enum {
			words[i] = literal(w)
		}
		return strings.Join(words, " | ")
	}
	if list := append(s.OneOf, s.AnyOf...); len(list) > 0 {
		words := make([]string, len(list))
		for i, x := range list {
			words[i] = x.script()
		}
		return strings.Join(words, " | ")
	}
	if s.Properties != nil {
		return "{ " + strings.Join(s.members(), "; ") + " }"
	}
	switch kind := s.Type.(type) {
	case nil:
		return "unknown"
	case []any:
		words := make([]string, len(kind))
		for i, k := range kind {
			words[i] = (&schema{Type: k, Items: s.Items, Additional: s.Additional}).script()
		}
		return strings.Join(words, " | ")
	case string:
		return s.kind(kind)
	}
	panic(fmt.Sprintf("a type of %v", s.Type))
}

func (s *schema) kind(kind string) string {
	switch kind {
	case "integer":
		return "number"
	case "array":
		if item := s.Items.script(); strings.Contains(item, " | ") {
			return "readonly (" + item + ")[]"
		}
		return "readonly " + s.Items.script() + "[]"
	case "object":
		value := "unknown"
		if s.Additional != nil {
			value = s.Additional.script()
		}
		return "{ readonly [key: string]: " + value + " }"
	}
	return kind // string, number, boolean, null
}

func literal(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(v)
}

// reach is the definitions that the named ones need, themselves included.
func reach(defs map[string]*schema, from ...string) []string {
	met := map[string]bool{}
	var visit func(*schema)
	visit = func(s *schema) {
		if s == nil {
			return
		}
		if s.Ref != "" {
			from = append(from, s.script())
		}
		for _, p := range s.Properties {
			visit(p)
		}
		for _, x := range append(append([]*schema{s.Items, s.Additional}, s.OneOf...), s.AnyOf...) {
			visit(x)
		}
	}
	for len(from) > 0 {
		name := from[len(from)-1]
		from = from[:len(from)-1]
		if !met[name] {
			met[name] = true
			visit(defs[name])
		}
	}
	return slices.Sorted(maps.Keys(met))
}
