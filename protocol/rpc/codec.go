package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Bounds of what a client may send.
const (
	// maxLine holds the largest prompt several times over, escaped.
	maxLine = 4 << 20
	// maxBatch bounds the work of one line.
	maxBatch = 256
	// maxDepth is what encoding/json would recurse into; no method needs ten.
	maxDepth = 64
)

// request is one call. Without an id it is a notification and is not answered.
type request struct {
	id     json.RawMessage // nil for a notification
	method string
	params json.RawMessage
}

// parse reads a line: its requests, each good or an answer that refuses it,
// and whether it was a batch.
func parse(line []byte) (calls []call, batch bool) {
	line = bytes.TrimSpace(line)
	if !utf8.Valid(line) || depth(line) > maxDepth || !json.Valid(line) {
		return []call{{refusal: &rpcError{Code: codeParse, Message: "invalid JSON"}}}, false
	}
	if line[0] != '[' {
		return []call{parseOne(line)}, false
	}
	var list []json.RawMessage
	if err := json.Unmarshal(line, &list); err != nil || len(list) == 0 || len(list) > maxBatch {
		return []call{{refusal: &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("a batch has 1 to %d requests", maxBatch)}}}, false
	}
	for _, raw := range list {
		calls = append(calls, parseOne(raw))
	}
	return calls, true
}

// call is a request, or why it is none.
type call struct {
	request
	refusal *rpcError
}

// parseOne reads one request object. An id that is not a string, a number or
// null cannot be answered with, so the answer's is null.
func parseOne(raw json.RawMessage) call {
	bad := func(id json.RawMessage, why string) call {
		return call{request{id: id}, &rpcError{Code: codeInvalidRequest, Message: why}}
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return bad(nil, "a request is an object")
	}
	id, hasID := fields["id"]
	if hasID && !goodID(id) {
		return bad(nil, "id: must be a string, a number or null")
	}
	var version, method string
	if json.Unmarshal(fields["jsonrpc"], &version) != nil || version != "2.0" {
		return bad(id, `jsonrpc: must be "2.0"`)
	}
	if json.Unmarshal(fields["method"], &method) != nil || method == "" {
		return bad(id, "method: must be a string")
	}
	params := fields["params"]
	if len(params) > 0 && params[0] != '{' && params[0] != '[' {
		return bad(id, "params: must be an object or an array")
	}
	r := request{method: method, params: params}
	if hasID {
		r.id = id
	}
	return call{request: r}
}

func goodID(id json.RawMessage) bool {
	c := id[0]
	return c == '"' || c == '-' || c >= '0' && c <= '9' || bytes.Equal(id, []byte("null"))
}

// depth is how deep arrays and objects nest, without recursion.
func depth(b []byte) int {
	deepest, now := 0, 0
	inString, escaped := false, false
	for _, c := range b {
		switch {
		case inString:
			switch {
			case escaped:
				escaped = false
			case c == '\\':
				escaped = true
			case c == '"':
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{', c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}', c == ']':
			now--
		}
	}
	return deepest
}

// answer is the reply to a request.
type answer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

var null = json.RawMessage("null")

func newAnswer(id json.RawMessage, result any, err *rpcError) answer {
	if id == nil {
		id = null
	}
	return answer{"2.0", id, result, err}
}

// encode is one line without HTML escapes.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("rpc: encode %T: %v", v, err)) // only our own types come here
	}
	return b.Bytes()
}
