// Package health says how a session is: a score, flags with the events that
// raised them, budgets, an audit, and what an operator might do.
//
// It is a fold over the log and nothing else. The same log gives the same
// snapshot, byte for byte, on any machine and at any time: all time in it is the
// time of events, and where silence matters the kernel writes it into the log
// ([Fold.Next]). An event costs the same in any history, what is remembered is
// bounded, and a [Fold] is stored with the session's state, so that a session
// that sleeps is judged without reading its log.
//
// The package decides nothing: it says which limit of a policy is crossed
// ([Fold.Exceeded]), and the kernel acts.
package health

// Version is of the fold: what it remembers, and how it judges. A snapshot names
// it, so that old ones are comparable; a stored fold of another version is
// folded again from the log.
const Version = 2
