// Package runner is S2's RunnerProtocol, both ends: [Runner] hosts an engine and
// serves it over HTTP, [Client] is how a server talks to one.
//
// S2's text is kept to the letter: POST /query is answered with server-sent
// events, of which five are S2's, and GET /health says how it is. Everything
// else is added beside it, and either end works with a peer that knows nothing
// of it. Every event has an id (1, 2, 3 …), so that a run whose connection broke
// can be followed from any of them.
//
// A runner guarantees: at most one run at a time, a second is refused; what a
// run says is kept in a file until it is acknowledged or the next run begins, so
// nobody needs to listen; a client that does not read slows nothing down; what a
// client asks twice under one key happens once. It knows nothing of a session
// but what the query says, and keeps nothing between runs but, where it can, the
// files as they were before each. Runs do not survive the machine, and neither
// does what they said.
package runner
