// Package talk is a turn's conversation with a program that speaks JSON-RPC, a
// message a line, and what engines for such programs share: questions that go to
// a session, calls and their outcomes, the checkpoint, and the past as text.
//
// One goroutine has the [Talk] and hears everything in order: what the program
// says, what people say, and what came of work that was put aside with
// [Talk.Go]. The callbacks are called by it.
package talk
