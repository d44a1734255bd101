// Package socket is the server side of WebSocket connections and of streams of
// server-sent events at the price of a table row.
//
// A connection that nobody talks on is a descriptor in an epoll set and one
// [Conn] of 128 bytes: no goroutine, no buffer, no net.Conn. When bytes come,
// one of a bounded number of workers reads and parses them and calls the
// owner's [Handler]; when nothing is left to do there are no workers.
//
// A [Server] carries one kind: WebSockets, made by [New], or event streams,
// made by [NewStreams], which are the same table with another word between the
// bytes. Below, a frame is an event there, ended by its empty line; the peer of
// a stream has nothing to say, and what it says is thrown away.
//
// It guarantees:
//   - Calls for one connection come in order and one at a time: Opened, then
//     Message and Refused as the peer sends, then Closed exactly once. Only
//     Writable may run beside Message and Refused.
//   - Write and Close never call the Handler: the owner may hold its locks.
//   - Nothing more is read from a connection while its Message runs.
//   - Write never blocks and never reaches a descriptor that was closed and
//     given to somebody else.
//   - Control frames (ping, pong, close) are never put inside one of the
//     owner's frames.
//   - Everything a peer can make the server hold is bounded.
//
// It does not queue output, compress, or check the Origin header: the owner
// keeps what could not be written, and decides who may connect before it calls
// [Server.Upgrade] or [Server.Stream].
//
// TLS connections, listeners other than TCP, and systems without epoll get the
// same behaviour from the same parser with one goroutine and a small buffer per
// connection; streams over HTTP/2 keep their request's goroutine as well.
package socket
