// Package enginetest is the suite that every [harness.Engine] passes, and a
// [Host] that records what an engine does to it.
//
// An engine brings its own way to get into the situations that the suite needs
// ([Situations]): a prompt for each, and what to look at afterwards. One call
// of [Test] then checks every promise of the interface, each in a subtest named
// after it.
package enginetest
