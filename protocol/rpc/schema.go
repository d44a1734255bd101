package rpc

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Schema is a JSON Schema (2020-12) of every message of the protocol. Beyond
// the standard, "methods" says what each method takes and gives.
func Schema() []byte {
	all, takes, gives, tells := protocolShapes()
	defs := map[string]any{}
	for name, s := range all {
		defs[name] = s.declare()
	}
	ref := func(name string) any { return map[string]any{"$ref": "#/$defs/" + name} }
	message := func(required []string, properties map[string]any) any {
		properties["jsonrpc"] = map[string]any{"const": "2.0"}
		return map[string]any{"type": "object", "required": append([]string{"jsonrpc"}, required...), "properties": properties}
	}
	word := func(s string) any { return map[string]any{"const": s} }
	id := map[string]any{"type": []string{"string", "number", "null"}}
	var requests, notes, events []any
	table := map[string]any{}
	for _, m := range methods {
		required := []string{"method"}
		if slices.ContainsFunc(takes[m.name].fields, func(f shapeField) bool { return !f.optional }) {
			required = append(required, "params")
		}
		requests = append(requests, message(required, map[string]any{"id": id, "method": word(m.name), "params": ref(takes[m.name].name)}))
		row := map[string]any{"params": ref(takes[m.name].name), "result": ref(gives[m.name].name)}
		if m.adds != "" {
			row["capability"] = m.adds
		}
		table[m.name] = row
	}
	for _, n := range notifications {
		params := ref(tells[n.method].name)
		notes = append(notes, message([]string{"method", "params"}, map[string]any{"method": word(n.method), "params": params}))
		events = append(events, map[string]any{"allOf": []any{params, map[string]any{
			"type": "object", "required": []string{"notification", "timestamp"},
			"properties": map[string]any{"notification": word(n.method), "timestamp": map[string]any{"type": "integer"}},
		}}})
	}
	var codeList []any
	for _, code := range slices.Sorted(maps.Keys(codeNames)) {
		codeList = append(codeList, map[string]any{"const": code, "title": codeNames[code]})
	}
	defs["RpcError"].(map[string]any)["properties"].(map[string]any)["code"] = map[string]any{"oneOf": codeList}
	defs["Event"] = map[string]any{"oneOf": events}
	defs["Request"] = map[string]any{"oneOf": requests}
	defs["Notification"] = map[string]any{"oneOf": notes}
	defs["Success"] = message([]string{"id", "result"}, map[string]any{"id": id, "result": map[string]any{}})
	defs["Failure"] = message([]string{"id", "error"}, map[string]any{"id": id, "error": ref("RpcError")})
	doc := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "Harness over JSON-RPC",
		"anyOf":   []any{ref("Request"), ref("Notification"), ref("Success"), ref("Failure")},
		"methods": table,
		"$defs":   defs,
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		panic("rpc: schema: " + err.Error())
	}
	return b.Bytes()
}

// declare is the schema of a declared object, use of any other shape.
func (s *shape) declare() map[string]any {
	required, properties := []string{}, map[string]any{}
	for _, f := range s.fields {
		properties[f.name] = f.shape.use()
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return map[string]any{"type": "object", "required": required, "properties": properties}
}

func (s *shape) use() map[string]any {
	if s.name != "" {
		return map[string]any{"$ref": "#/$defs/" + s.name}
	}
	u := map[string]any{"type": s.kind}
	if s.null {
		u["type"] = []string{s.kind, "null"}
	}
	switch s.kind {
	case "any":
		return map[string]any{}
	case "event":
		return map[string]any{"$ref": "#/$defs/Event"}
	case "data":
		list := []any{map[string]any{"type": "object", "maxProperties": 0}}
		for _, t := range itemData {
			list = append(list, map[string]any{"$ref": "#/$defs/" + title(t.Name())})
		}
		return map[string]any{"anyOf": list}
	case "array":
		u["items"] = s.elem.use()
	case "map":
		return map[string]any{"type": "object", "additionalProperties": s.elem.use()}
	case "string":
		if s.max > 0 {
			u["maxLength"] = s.max
		}
		if s.words != nil {
			u["enum"] = s.words
		}
	case "integer":
		if s.max > 0 {
			u["maximum"] = s.max
		}
		if s.min != nil {
			u["minimum"] = *s.min
		}
	}
	return u
}
