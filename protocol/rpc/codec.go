package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"

	"harness/internal/shape"
	"harness/internal/strict"
)

// Bounds of what a client may send.
const (
	// maxLine holds the largest prompt several times over, escaped.
	maxLine = 4 << 20
	// maxBatch bounds the work of one line.
	maxBatch = 256
)

// request is one call. Without an id it is a notification and is not answered.
type request struct {
	id     json.RawMessage // as the client spelled it; nil for a notification
	method string
	params json.RawMessage // nil, an object or an array
}

// call is a request, or why it is none.
type call struct {
	request
	refusal *rpcError
}

// parse reads a line, which is not empty: its requests, each good or refused,
// and whether it was a batch. What it returns shares the line's bytes.
func parse(line []byte) (calls []call, batch bool) {
	if err := strict.Check(line, maxLine); err != nil {
		return []call{{refusal: &rpcError{Code: codeParse, Message: "invalid JSON: " + err.Error(), Data: &errorData{Code: "parse_error"}}}}, false
	}
	if line[0] != '[' {
		return []call{parseOne(line)}, false
	}
	for raw := range shape.Elements(line) {
		if len(calls) == maxBatch {
			calls = nil
			break
		}
		calls = append(calls, parseOne(raw))
	}
	if calls == nil {
		return []call{{refusal: badRequest(fmt.Sprintf("a batch has 1 to %d requests", maxBatch))}}, false
	}
	return calls, true
}

// parseOne reads one request. An id that is not a string, a number or null
// cannot be answered with, so the answer's is null.
func parseOne(raw []byte) call {
	if raw[0] != '{' {
		return call{refusal: badRequest("a request is an object")}
	}
	var id, version, name, params []byte
	for key, value := range shape.Members(raw) {
		switch key {
		case "jsonrpc":
			version = value
		case "id":
			id = value
		case "method":
			name = value
		case "params":
			params = value
		}
	}
	if id != nil && !goodID(id) {
		return call{refusal: badRequest("id: must be a string, a number or null")}
	}
	method, isText := shape.Unquote(name)
	switch v, _ := shape.Unquote(version); {
	case v != "2.0":
		return call{request{id: id}, badRequest(`jsonrpc: must be "2.0"`)}
	case !isText:
		return call{request{id: id}, badRequest("method: must be a string")}
	case params != nil && params[0] != '{' && params[0] != '[':
		return call{request{id: id}, badRequest("params: must be an object or an array")}
	}
	return call{request: request{id, method, params}}
}

func goodID(id []byte) bool {
	c := id[0]
	return c == '"' || c == '-' || c >= '0' && c <= '9' || c == 'n'
}

// appendAnswer appends the answer to a request, without a line's end.
func appendAnswer(b []byte, id json.RawMessage, result any, err *rpcError) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		id = json.RawMessage("null")
	}
	b = append(b, id...)
	if err != nil {
		b = append(b, `,"error":`...)
		b = appendJSON(b, err)
	} else {
		b = append(b, `,"result":`...)
		b = appendJSON(b, result)
	}
	return append(b, '}')
}

// appendJSON appends v without HTML escapes.
func appendJSON(b []byte, v any) []byte {
	if r, ok := v.(interface{ already() []byte }); ok && r.already() != nil {
		return append(b, r.already()...)
	}
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("rpc: encode %T: %v", v, err)) // only our own types come here
	}
	return buf.Bytes()[:buf.Len()-1] // without the line's end
}
