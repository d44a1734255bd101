// Package redact takes secrets out of text: values that are known, in the forms
// that programs give them (as they are, in JSON, in URLs, in hexadecimal, in
// base64 at any place of a longer text), and what looks like a key, a token or a
// private key although nobody told us.
//
// A text is redacted in one pass, whatever the number of secrets. A stream may
// be cut anywhere, also in the middle of a secret: a part that could be the
// beginning of one is held back until it is known, at most [MaxHold] bytes and
// only while it could be one. A live text ([Stream.Text]) shows the first
// [Glimpse] bytes of that at once, and all of it when it must ([Stream.Flush]);
// what follows is then still taken out.
//
// It guarantees that no known value of [MinSecret] bytes or more gets through in
// those forms. It does not find secrets that were encrypted, compressed,
// translated or spelled out, and its patterns are a net, not a wall.
package redact
