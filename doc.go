// Package harness is the vocabulary of the server: the nouns every other
// package speaks of, and the seams between them.
//
// A session is a log of events and nothing else. State is what the events add
// up to ([State.Apply]); a client's view, a list row, a health score are
// projections of it. An [Event] is shown to anybody only after a [Store] has
// made it durable.
//
// The life of a submit: a protocol decodes a [Submit] and hands it to the
// kernel; the session's machine answers with events (user_message,
// turn_start); the store appends them in one [Commit]; only then do watchers
// see them, does the client get its [Receipt], and does an [Engine] start to
// run the turn, reporting through its [Host] until turn_end.
//
// Guarantees: this package imports only the standard library, does no I/O,
// starts no goroutine and reads no clock. Everything in it is safe to call
// from anywhere, except that a [State] has one owner at a time.
package harness
