// Package kernel runs sessions.
//
// A pure machine decides everything a session does; one goroutine per awake
// session obeys it. The machine takes an input (a command, a report of the
// engine, the result of an append) and returns what to append now, what became
// durable and may be shown, and which effects to carry out in that order. It
// has no clock, no goroutine and no I/O, so a crash can be simulated at every
// one of its steps.
//
// Guarantees:
//   - nothing is shown, answered or started before its events are durable;
//   - at most one append and at most one turn are under way per session;
//   - a turn has one terminal event, a tool call one outcome, an approval one
//     decision;
//   - watchers read a shared tail with cursors of their own: none of them can
//     slow, stop or grow a session;
//   - a session that has nothing to do has no goroutine and no state in memory.
//
// It does not guarantee that a turn survives the process that runs it: a turn
// found open at start-up is tried again if retries are left, kept open if an
// approval is pending, and ended as interrupted otherwise.
package kernel
