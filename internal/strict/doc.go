// Package strict looks at a JSON text before it is decoded, and refuses what
// two readers could understand differently or what costs more than it says.
//
// A text that [Check] accepts is one JSON value and decodes with encoding/json,
// to the same value with any other reader that follows RFC 8259: no key is
// there twice, not even in another case (encoding/json takes TYPE for type), no
// string has bytes or surrogates that a reader would replace, no number is too
// large for a float64, and nothing follows the value. It is checked in one pass
// and without allocation, so that a refusal is cheaper than the sending.
//
// It does not know which keys a message has: a single TYPE passes.
package strict
