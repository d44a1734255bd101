// Package program keeps the programs of other people that run turns: one for
// each session, in a workspace of a sandbox, warm between turns and stopped when
// idle.
//
// A [Process] prints lines, which go to whoever listens, and is told lines. It
// belongs to its session's [Slot]; a [Pool] has the slots. Whoever has a slot
// owns its process. When a process is stopped or killed, its whole tree is gone.
//
// A session has one process at a time: its slot holds one, and the process holds
// the lock of the session's [Home], which no other engine on the same files gets
// meanwhile, in this server or another.
package program
