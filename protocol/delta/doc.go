// Package delta is S0 and S1: a session as one state object over a WebSocket,
// sent whole as "state" and then changed by "delta" operations, and commands
// in the other direction.
//
// What a client sees is a projection of the log. The view of a state
// (appendView) and the operations of an event (projector) agree: whoever
// applies the operations to an older view has the newer one. Optional fields
// are left out of a view when empty; an operation cannot remove a key, so
// deltas clear "pendingApprovals" with [], "error" with null and "lacks" with
// empty lists.
//
// A client that knows only S0 and S1 sees exactly those; "seq" on frames,
// "firstMessage", "rewind", "lacks", and what calls and approvals carry beyond the texts are
// additions that it may ignore.
package delta
