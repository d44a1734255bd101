// Package landlock restricts processes with what needs no privilege at all:
// Landlock for files and other processes, a system call filter for the network.
//
// It is for machines that allow no user namespaces. It works in place: processes
// see the machine as it is and are refused what they may not touch. Therefore it
// cannot hold single files of the workspace (git's hooks), cannot hide parts of
// it, cannot hide processes, and does not keep metadata of files (mode, times, existence) private or fixed.
// It needs version 6 of Landlock (Linux 6.12) to keep signals in; before, the
// guarantee about processes is not given.
package landlock

import "harness"

// Options of the sandbox.
type Options struct {
	// Shim is a program that calls sandbox.Shim before anything else; empty is
	// the running one.
	Shim string
	// NoCgroup makes it do without control groups, as where there are none.
	NoCgroup bool
}

// Promises says what this sandbox enforces: "yes", "no", or on which condition.
func Promises() map[harness.Guarantee]string {
	return map[harness.Guarantee]string{
		harness.GuardWrite:     "yes",
		harness.GuardRead:      "yes",
		harness.GuardHidden:    "no",
		harness.GuardGit:       "no",
		harness.GuardNetwork:   "unless the spec asks for it",
		harness.GuardSockets:   "unless the spec has some, or the network",
		harness.GuardProcesses: "with Linux 6.12",
		harness.GuardPIDs:      "no",
		harness.GuardSyscalls:  "yes",
		harness.GuardEnv:       "yes",
		harness.GuardTree:      "yes",
		harness.GuardCrash:     "yes",
		harness.LimitPids:      "with a control group",
		harness.LimitMemory:    "with a control group",
		harness.LimitWallTime:  "yes",
		harness.LimitOutput:    "yes",
	}
}
