// Package custody remembers which processes belong to which session, so that
// whoever starts after a crash finds them again or ends them.
//
// A [Book] guarantees that an entry is durable when Record returns. Processes
// are recorded after they exist and before they do anything: a runner waits for
// its hand-over, a process of a sandbox for [harness.Process.Before]. So there
// is never one at work that is not in the book, at most an entry whose process
// never worked. An entry is believed only if the process with that number was
// started at that time since this boot of the machine; numbers are used again.
//
// Several processes may share a book: every entry is a file of its own. Where
// the system does not say when a process was started, none is believed, and
// nothing is ever killed.
package custody
