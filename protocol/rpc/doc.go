// Package rpc speaks S4: JSON-RPC 2.0, one message a line, over any pair of
// streams.
//
// A connection follows the threads it has to do with: those it made, read to
// their end, subscribed to or sent a command. It is told every change of them,
// in order, exactly once, and only after it is durable; what it was told can be
// asked for again with thread.get, word for word and with its first timestamp.
//
// Guarantees: every request gets exactly one answer, a notification none; what
// a request causes is told after its answer; an item that was started is
// completed once, before its turn ends; output is lines of JSON and nothing
// else. A client that stops reading stops nothing but its own connection, in
// bounded memory: its place in each log is a number.
//
// It does not authenticate: whoever has the streams is let in.
package rpc
