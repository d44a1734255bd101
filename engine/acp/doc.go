// Package acp runs turns with any agent that speaks the Agent Client Protocol
// (https://agentclientprotocol.com), version 1, on stdin and stdout.
//
// Each session has at most one process of the agent, in a workspace of the given
// sandbox, with a home of its own. It is kept warm between turns and stopped when
// it has idled. It belongs to the session, not to a turn: [Engine.Run] leaves it
// behind when the turn ended well, and [Engine.Close] ends all of them. A turn
// that did not end well leaves nothing.
//
// What the agent asks permission for is asked about through [harness.Host.Ask],
// and so are the files and terminals that it has us handle, which are the
// workspace's. What it does by itself without asking is told, and bounded by the
// sandbox alone.
//
// The protocol has no names of tools, no words to a running turn, no reasons of
// refusals, and no place in a conversation to branch off at. None of that is
// made up: a session says so once. Kinds of updates that this build does not know
// are counted and left alone.
package acp
