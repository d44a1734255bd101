// Package gateway is S2's HarnessGateway: who are you, and may you.
//
// A [Gate] stands before the verbs of the server and is the one place where
// authorisation happens: by a complete table of roles and actions, and by whose
// a session is. [Auth] finds out who asks, from tokens, cookies or an identity
// provider. [Edge] refuses what no client of ours sends: other names of this
// host, pages of other sites, oversized or too many requests.
//
// It guarantees that no verb is reached without a caller, that a caller other
// than an admin reaches only sessions of its own user and cannot learn whether
// others exist, and that nothing here grows with the number of strangers who
// knock. It does not guarantee anything about what an allowed caller makes an
// engine do; that is policy and sandbox.
package gateway
