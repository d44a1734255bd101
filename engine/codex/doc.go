// Package codex runs turns with Codex, the program, over the JSON-RPC of its
// app-server on stdin and stdout.
//
// Each session has at most one process of the program, in a workspace of the
// given sandbox, with a CODEX_HOME of its own. It is kept warm between turns and
// stopped when it has idled. It belongs to the session, not to a turn:
// [Engine.Run] leaves it behind when the turn ended well, and [Engine.Close]
// ends all of them. A turn that did not end well leaves nothing.
//
// The program's own rules never decide alone: what it wants to run or change is
// asked about through [harness.Host.Ask], whose answer is the program's. The
// workspace is never one that it trusts, so configuration, hooks and servers in
// it are not read: a thread with full access would make it trusted otherwise.
//
// What it remembers of a conversation is a file in its home, which only it
// reads. If that is lost, the session says so and goes on with what was said, as
// text. A branch gets a copy of the files, and a thread that ends where it
// branched off.
package codex
