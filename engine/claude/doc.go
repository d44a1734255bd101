// Package claude runs turns with Claude Code, the program, over its stream-json
// protocol on stdin and stdout.
//
// Each session has at most one process of the program, in a workspace of the
// given sandbox. It is kept warm between turns, so that the next one does not
// pay for its start, and stopped when it has idled. It belongs to the session,
// not to a turn: [Engine.Run] leaves it behind when the turn ended well, and
// [Engine.Close] ends all of them. A turn that did not end well leaves nothing.
//
// The program's own permissions never decide alone: what writes, runs or uses
// the network is asked about through [harness.Host.Ask], whose answer is the
// program's. Its settings files are not read, its background tasks, schedules,
// updates and telemetry are off, and its environment is a given list.
//
// What it remembers of a conversation is a file of its own, which only --resume
// reads, in a directory that each session has for itself; a branch gets a copy. If that is lost, the session says so and goes on with what was said,
// as text.
package claude
