package rpc

import (
	"encoding/json"

	"harness/internal/shape"
)

// read fills the struct that into points to from a request's params.
func read(p *shape.Plan, raw json.RawMessage, into any) *rpcError {
	if raw == nil {
		raw = json.RawMessage("{}")
	}
	if raw[0] != '{' {
		return badParam("params", "must be an object")
	}
	if w := p.Read(raw, into); w != nil {
		return badParam(w.Field, w.Why)
	}
	return nil
}
