package delta

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"harness"
	"harness/internal/shape"
)

// unions are the messages and what they are made of, by the names of S0.
var unions = []struct {
	name    string
	members []reflect.Type
}{
	{"ServerMessage", []reflect.Type{
		reflect.TypeFor[stateMessage](), reflect.TypeFor[deltaMessage](), reflect.TypeFor[errorMessage](), reflect.TypeFor[ackMessage](), reflect.TypeFor[heartbeatMessage](),
	}},
	{"DeltaOperation", []reflect.Type{reflect.TypeFor[setOperation](), reflect.TypeFor[appendTextOperation]()}},
	{"HarnessCommand", []reflect.Type{
		reflect.TypeFor[submitCommand](), reflect.TypeFor[cancelCommand](), reflect.TypeFor[steerCommand](), reflect.TypeFor[approveCommand](),
		reflect.TypeFor[denyCommand](), reflect.TypeFor[resumeCommand](), reflect.TypeFor[configureCommand](), reflect.TypeFor[rewindCommand](),
	}},
}

// Schema is a JSON Schema (2020-12) of every message of the protocol.
func Schema() []byte {
	ref := func(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }
	all := shape.Set{Named: map[string]*shape.Type{}}
	all.Own = func(t reflect.Type) (*shape.Type, bool) { return ownType(&all, t) }
	defs := map[string]any{}
	for _, u := range unions {
		var list []any
		for _, m := range u.members {
			list = append(list, ref(all.Sent(m).Name))
		}
		defs[u.name] = map[string]any{"oneOf": list}
	}
	schema := shape.Schema{Refs: "#/$defs/"}
	for name, s := range all.Named {
		defs[name] = schema.Declare(s)
	}
	property := func(of, name string) map[string]any {
		return defs[of].(map[string]any)["properties"].(map[string]any)[name].(map[string]any)
	}
	property("DeltaMessage", "operations")["items"] = ref("DeltaOperation")
	property("ErrorMessage", "code")["enum"] = slices.Sorted(maps.Values(errorCodes))
	property("HarnessState", "error")["type"] = []string{"string", "null"} // null: it was cleared
	clear(property("SetOperation", "value"))                               // any JSON
	defs["ClientMessage"] = map[string]any{
		"type": "object", "required": []string{"type", "commands"},
		"properties": map[string]any{
			"type":     map[string]any{"type": "string", "enum": []string{"commands"}},
			"commands": map[string]any{"type": "array", "items": ref("HarnessCommand"), "maxItems": maxCommands},
		},
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "Harness over WebSocket",
		"anyOf":   []any{ref("ServerMessage"), ref("ClientMessage")},
		"$defs":   defs,
	}); err != nil {
		panic("delta: schema: " + err.Error())
	}
	return b.Bytes()
}

// ownType describes the domain's types in S0's and S1's words.
func ownType(all *shape.Set, t reflect.Type) (*shape.Type, bool) {
	words := func(list ...string) (*shape.Type, bool) { return &shape.Type{Kind: "string", Words: list}, true }
	switch t {
	case reflect.TypeFor[harness.Text]():
		return &shape.Type{Kind: "string"}, true
	case reflect.TypeFor[harness.Role]():
		return words(string(harness.User), string(harness.Assistant))
	case reflect.TypeFor[harness.MessageStatus]():
		return words(string(harness.MessagePending), string(harness.MessageStreaming), string(harness.MessageComplete), string(harness.MessageError))
	case reflect.TypeFor[harness.CallStatus]():
		return words(string(harness.CallRunning), string(harness.CallAwaiting), string(harness.CallComplete), string(harness.CallError), string(harness.CallDenied))
	case reflect.TypeFor[harness.Call]():
		return all.Sent(reflect.TypeFor[harnessToolCall]()), true
	case reflect.TypeFor[json.RawMessage](): // a tool's input
		return &shape.Type{Kind: "map", Elem: &shape.Type{Kind: "any"}}, true
	}
	return nil, false
}
