// Package object is the state operations of assistant-stream: a JSON document
// changed by "set" and "append-text", without a word about what it holds.
//
// Tree applies operations as assistant-stream 0.3.33 and later does in strict
// mode; testdata/node holds the real packages and the tests compare with them.
// Pending folds operations that wait to be sent into fewer ones with the same
// result. Both keep text in growing buffers, so a text of n bytes costs O(n)
// however small its pieces are.
//
// Four things are refused here that the JavaScript accumulator lets pass,
// because the two sides would silently part: a set without value, an
// append-text whose value is no string, text that is not Unicode (half a
// surrogate pair, broken UTF-8), and values with keys that the stream decoders
// of assistant-stream drop ("__proto__", "constructor":{"prototype":…}).
// Documents are bounded to MaxDepth levels.
//
// Nothing here is safe for use by two goroutines at once.
package object
