// Package node makes a kernel one of several on the same store: it says which
// sessions this process runs, and has the others' orders carried out.
//
// A node is alive while it beats. It claims a session when that wakes and
// releases it when that sleeps, so idle sessions cost nobody anything. A command
// for a session that another node runs is an order: durable before anybody waits
// for it, given to whoever owns the session, carried out once by its key, and
// answered. A node that dies is found out by the others, which take over what it
// had; one that leaves says so.
//
// It guarantees:
//   - at most one node's appends are taken, whatever anybody believes: the store
//     fences by the log's end;
//   - a node that cannot beat stops what it runs before the others may take it
//     over, and one that was taken for dead stops as soon as it hears of it;
//   - all time is the store's, except how long this process waits: no node's
//     clock is compared with another's.
//
// It does not guarantee that a process which is stopped in the middle of a call
// to the outside world does not finish that call when it goes on.
package node
