// Package agenttest has the agents of other people that tests run, in the
// versions of a lock file: it finds them, and makes a place for them from which
// nobody can be called.
package agenttest
