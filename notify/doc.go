// Package notify tells the world what happened to sessions: it posts signed
// webhooks and runs commands.
//
// What is told is a function of the logs ([Of]), so a notice has the id of its
// event and needs no store of its own. All that is kept is a cursor for each
// hook: since when to look, and what of that was seen to. A server that is
// killed between an event and its delivery finds the event in its log again.
// So every notice is delivered at least once, under an id that does not change,
// unless its hook gives up: see [MaxAge] and [MaxPending]. Notices may arrive in
// any order.
//
// Sessions never wait: a commit costs a look at its events and, if there is
// something to tell, a place in a bounded queue. One goroutine for each hook
// does the rest.
package notify
