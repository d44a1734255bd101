// Package trace tells OpenTelemetry about turns: a span for each turn, with one
// for each answer of a model and for each call of a tool below it, named as the
// conventions for generative AI have them.
//
// The spans of a turn are a function of its events ([Of]), ids and all, so they
// are the same whoever computes them and whenever. They are made when the turn
// has ended, from the log, by one goroutine; a commit costs a look at its
// events. What cannot be delivered is dropped: traces are for looking, the log
// is for keeping. Nothing of what was said is in them unless it is asked for.
package trace
