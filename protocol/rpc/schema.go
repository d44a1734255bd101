package rpc

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"harness/internal/shape"
)

// Schema is a JSON Schema (2020-12) of every message of the protocol. Beyond
// the standard, "methods" says what each method takes and gives.
func Schema() []byte {
	all, takes, gives, tells := protocolShapes()
	defs := map[string]any{}
	for name, s := range all {
		defs[name] = schemas.Declare(s)
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
	for _, m := range methods() {
		required := []string{"method"}
		if slices.ContainsFunc(takes[m.name].Fields, func(f shape.Field) bool { return !f.Optional }) {
			required = append(required, "params")
		}
		requests = append(requests, message(required, map[string]any{"id": id, "method": word(m.name), "params": ref(takes[m.name].Name)}))
		row := map[string]any{"params": ref(takes[m.name].Name), "result": ref(gives[m.name].Name)}
		if m.adds != "" {
			row["capability"] = m.adds
		}
		table[m.name] = row
	}
	for _, n := range notifications {
		params := ref(tells[n.method].Name)
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

// schemas says where declared objects are, and what the protocol's own kinds are.
var schemas = shape.Schema{Refs: "#/$defs/", Own: func(kind string) map[string]any {
	if kind == "event" {
		return map[string]any{"$ref": "#/$defs/Event"}
	}
	list := []any{map[string]any{"type": "object", "maxProperties": 0}}
	for _, t := range itemData {
		list = append(list, map[string]any{"$ref": "#/$defs/" + shape.Title(t.Name())})
	}
	return map[string]any{"anyOf": list}
}}
