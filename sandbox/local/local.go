// Package local runs processes as the harness itself runs: it isolates nothing,
// and says so.
//
// What it guarantees is that nothing is inherited but the given environment, and
// that nothing is left: daemons, sessions of their own and deaf processes end
// with their command, and with the harness. Where control groups can be made,
// this holds against processes that try to get away, too, and there are limits.
package local

import (
	"harness"
)

// Options of the local sandbox.
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
		harness.GuardWrite:     "no",
		harness.GuardRead:      "no",
		harness.GuardHidden:    "no",
		harness.GuardGit:       "no",
		harness.GuardNetwork:   "no",
		harness.GuardSockets:   "no",
		harness.GuardProcesses: "no",
		harness.GuardPIDs:      "no",
		harness.GuardSyscalls:  "no",
		harness.GuardEnv:       "yes",
		harness.GuardTree:      "yes",
		harness.GuardCrash:     "yes",
		harness.LimitPids:      "with a control group",
		harness.LimitMemory:    "with a control group",
		harness.LimitWallTime:  "yes",
		harness.LimitOutput:    "yes",
	}
}
