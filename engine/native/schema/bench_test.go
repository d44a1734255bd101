package schema_test

import (
	"encoding/json"
	"testing"

	"harness/engine/native/schema"
)

// linked is a schema as MCP servers have them: parts by name, and choices.
const linked = `{"type":"object","required":["query"],"additionalProperties":false,"$defs":{
	"key":{"type":"string","pattern":"^[a-z_]+$","maxLength":40},
	"sort":{"type":"object","required":["by"],"properties":{"by":{"$ref":"#/$defs/key"},"order":{"enum":["asc","desc"]}}},
	"filter":{"anyOf":[{"type":"object","required":["field","is"],"properties":{"field":{"$ref":"#/$defs/key"},"is":{"type":["string","number","boolean"]}}},
		{"type":"object","required":["all"],"properties":{"all":{"type":"array","items":{"$ref":"#/$defs/filter"}}}}]}},
	"properties":{"query":{"type":"string","minLength":1},"limit":{"type":"integer","minimum":1,"maximum":500},
		"sort":{"type":"array","items":{"$ref":"#/$defs/sort"}},"filter":{"$ref":"#/$defs/filter"}}}`

var calls = map[string]struct{ schema, args string }{
	"plain": {shape, `{"path":"a/b.go","n":12,"all":true,"edits":[{"old":"x","n":1},{"old":"y"}],"mode":"a"}`},
	"linked": {linked, `{"query":"who","limit":20,"sort":[{"by":"name","order":"asc"},{"by":"age"}],
		"filter":{"all":[{"field":"age","is":12},{"all":[{"field":"name","is":"x"},{"field":"name","is":"y"}]}]}}`},
	"mended": {shape, `{"path":"a","n":"12","names":"x","edits":{"old":"x","n":"1"}}`},
	"wrong":  {shape, `{"n":"many","edits":[{"n":1}],"mode":"c","more":1}`},
}

func BenchmarkCheck(b *testing.B) {
	for name, c := range calls {
		b.Run(name, func(b *testing.B) {
			s, err := schema.Compile(json.RawMessage(c.schema))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Check(json.RawMessage(c.args))
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for name, text := range map[string]string{"plain": shape, "linked": linked} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := schema.Compile(json.RawMessage(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
