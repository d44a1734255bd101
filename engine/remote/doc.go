// Package remote is an engine whose work is done by a runner (S2), which hosts
// another engine in a process or on a machine of its own.
//
// A turn is one run. Runs outlive the server: each event of a run has a number,
// the log says which of them it has, and a server that starts again follows the
// run from its first event without losing or doubling a character. What people
// decide and say is posted under keys that the log remembers, so it reaches the
// agent once, whenever the server died. When the server is told to stop, runs
// are left alone; when a turn is cancelled, its run is told to end, and what
// does not end in time is killed.
//
// The runner is one of the configuration ([Open]), or a process of this machine
// for each session ([Local]), which is kept while it is warm.
//
// A runner is not believed. What it says has bounds, an order and a place; a
// runner that breaks them ends its turn with one error. One that knows only S2's
// text works, with what that has: its runs cannot be followed again, nor told
// anything but to end.
package remote
