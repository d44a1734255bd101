// Package shape reads, checks and describes the Go structs of a protocol from
// one plan: what a request may hold is in the struct's tags, and the decoder
// and the JSON Schema are both made from them.
//
// It guarantees that what a plan refuses names the field, and that what it
// accepts fits the schema. It knows nothing of a protocol's errors: those are
// made from a [Wrong].
package shape
