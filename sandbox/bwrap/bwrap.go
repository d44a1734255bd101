// Package bwrap runs processes in namespaces of their own, made by bubblewrap.
//
// A process sees an allow-list: the system's programs, the workspace and what
// the spec adds, read-only but for the workspace and throw-away directories. It
// has no network, no other processes, no capabilities and a short list of
// system calls less. Hooks and configuration of git repositories are read-only,
// and over what is hidden of the workspace lies an empty directory.
// Its tree is a pid namespace: it dies as one, also when the harness is killed.
//
// What it does not do: repositories that are made in a workspace after it was
// opened are not pinned, and the kernel is shared.
package bwrap

import (
	"harness"
)

// Options of the sandbox.
type Options struct {
	// Program is the path of bubblewrap; empty looks for bwrap in the usual
	// directories.
	Program string
	// NoCgroup makes it do without control groups, as where there are none.
	NoCgroup bool
}

// Promises says what this sandbox enforces: "yes", "no", or on which condition.
func Promises() map[harness.Guarantee]string {
	return map[harness.Guarantee]string{
		harness.GuardWrite:     "yes",
		harness.GuardRead:      "yes",
		harness.GuardHidden:    "unless it is a link",
		harness.GuardGit:       "unless a `.git` is a link",
		harness.GuardNetwork:   "unless the spec asks for it",
		harness.GuardSockets:   "unless the spec asks for the network",
		harness.GuardProcesses: "yes",
		harness.GuardPIDs:      "yes",
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
