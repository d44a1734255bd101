// Package rpc speaks S4: JSON-RPC 2.0, one message a line, over any pair of
// streams.
//
// A connection follows the threads it has to do with: those it made, started a
// turn on, asked for or subscribed to. It is told every change of them, in
// order, exactly once, and only after it is durable; what it was told can be
// asked for again with thread.get, word for word and with its first timestamp.
//
// Guarantees: every request gets exactly one answer, a notification none; the
// answer to turn.start comes before the first notification of its turn; output
// is lines of JSON and nothing else. A client that stops reading stops nothing
// but its own connection, in bounded memory: its place in each log is a number.
//
// It does not authenticate: whoever has the streams is let in.
package rpc
