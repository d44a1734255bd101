package rpc

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"harness/internal/shape"
)

// TypeScript is the same for editors and clients in TypeScript.
func TypeScript() []byte {
	all, takes, gives, tells := protocolShapes()
	var b strings.Builder
	b.WriteString("// Harness over JSON-RPC: made from the Go types, do not edit.\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.WriteString("\nexport interface " + name + " {\n")
		for _, f := range all[name].Fields {
			mark := ""
			if f.Optional {
				mark = "?"
			}
			b.WriteString("  " + f.Name + mark + ": " + script(f.Type) + ";\n")
		}
		b.WriteString("}\n")
	}
	b.WriteString("\nexport interface Methods {\n")
	for _, m := range methods() {
		b.WriteString("  " + strconv.Quote(m.name) + ": { params: " + takes[m.name].Name + "; result: " + gives[m.name].Name + " };\n")
	}
	b.WriteString("}\n\nexport interface Notifications {\n")
	for _, n := range notifications {
		b.WriteString("  " + strconv.Quote(n.method) + ": " + tells[n.method].Name + ";\n")
	}
	b.WriteString("}\n\nexport const enum Code {\n")
	for _, code := range slices.SortedFunc(maps.Keys(codeNames), func(a, b int) int { return cmp.Compare(b, a) }) {
		b.WriteString("  " + codeNames[code] + " = " + strconv.Itoa(code) + ",\n")
	}
	b.WriteString(`}

export type Id = string | number | null;
export type Request = { [M in keyof Methods]: { jsonrpc: "2.0"; id?: Id; method: M; params?: Methods[M]["params"] } }[keyof Methods];
export type Notification = { [N in keyof Notifications]: { jsonrpc: "2.0"; method: N; params: Notifications[N] } }[keyof Notifications];
export type Answer<M extends keyof Methods> = { jsonrpc: "2.0"; id: Id; result: Methods[M]["result"] } | { jsonrpc: "2.0"; id: Id; error: RpcError };
/** A notification as thread.get returns it. */
export type Event = { [N in keyof Notifications]: Notifications[N] & { notification: N; timestamp: number } }[keyof Notifications];
`)
	return []byte(b.String())
}

func script(s *shape.Type) string {
	switch s.Kind {
	case "object":
		return s.Name
	case "any":
		return "unknown"
	case "event":
		return "Event"
	case "data":
		words := []string{}
		for _, t := range itemData {
			words = append(words, shape.Title(t.Name()))
		}
		return strings.Join(words, " | ") + " | Record<string, never>"
	case "array":
		return script(s.Elem) + "[]"
	case "map":
		return "Record<string, " + script(s.Elem) + ">"
	case "integer":
		return "number"
	}
	if s.Words != nil {
		quoted := []string{}
		for _, w := range s.Words {
			quoted = append(quoted, strconv.Quote(w))
		}
		return strings.Join(quoted, " | ")
	}
	if s.Null {
		return s.Kind + " | null"
	}
	return s.Kind
}
