package tool

import "net/netip"

// Options of the built-in tools. The zero value works.
type Options struct {
	// ReadBytes is how much of a file read shows at a time; 0 is less than what
	// engines show whole.
	ReadBytes int
	// Allow lets fetch connect to an address that it would refuse; nil is none.
	Allow func(netip.AddrPort) bool
	// Hosts says which names fetch may ask; nil is all.
	Hosts func(name string) bool
}

// Builtin lists the tools that need nothing of an engine, in an order that does
// not change. Task, memory and search are made with the engine's own functions.
func Builtin(opts Options) []Tool {
	return []Tool{
		NewBash(), NewBashOutput(), NewBashKill(),
		NewRead(opts.ReadBytes), NewWrite(), NewEdit(), NewMultiEdit(), NewPatch(),
		NewGlob(), NewGrep(), NewFetch(opts.Allow, opts.Hosts),
		NewTodo(), NewAskUser(),
	}
}
