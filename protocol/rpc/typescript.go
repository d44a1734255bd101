package rpc

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// TypeScript is the same for editors and clients in TypeScript.
func TypeScript() []byte {
	all, takes, gives, tells := protocolShapes()
	var b strings.Builder
	b.WriteString("// Harness over JSON-RPC: made from the Go types, do not edit.\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.WriteString("\nexport interface " + name + " {\n")
		for _, f := range all[name].fields {
			mark := ""
			if f.optional {
				mark = "?"
			}
			b.WriteString("  " + f.name + mark + ": " + f.shape.script() + ";\n")
		}
		b.WriteString("}\n")
	}
	b.WriteString("\nexport interface Methods {\n")
	for _, m := range methods {
		b.WriteString("  " + strconv.Quote(m.name) + ": { params: " + takes[m.name].name + "; result: " + gives[m.name].name + " };\n")
	}
	b.WriteString("}\n\nexport interface Notifications {\n")
	for _, n := range notifications {
		b.WriteString("  " + strconv.Quote(n.method) + ": " + tells[n.method].name + ";\n")
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

func (s *shape) script() string {
	switch s.kind {
	case "object":
		return s.name
	case "any":
		return "unknown"
	case "event":
		return "Event"
	case "data":
		words := []string{}
		for _, t := range itemData {
			words = append(words, title(t.Name()))
		}
		return strings.Join(words, " | ") + " | Record<string, never>"
	case "array":
		return s.elem.script() + "[]"
	case "map":
		return "Record<string, " + s.elem.script() + ">"
	case "integer":
		return "number"
	}
	if s.words != nil {
		quoted := []string{}
		for _, w := range s.words {
			quoted = append(quoted, strconv.Quote(w))
		}
		return strings.Join(quoted, " | ")
	}
	if s.null {
		return s.kind + " | null"
	}
	return s.kind
}
