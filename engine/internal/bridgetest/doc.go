// Package bridgetest is what tests of engines for other people's programs share:
// a [Stage] with the real kernel on which a session plays with such an engine,
// stories that were recorded between an engine and the real program, and a
// stand-in that replays them.
package bridgetest
