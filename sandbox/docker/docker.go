// Package docker runs processes in containers, through the command line of
// docker or podman.
//
// A workspace has one container, made at its first process and used again while
// it is healthy; when it was idle for long it is stopped, and the next process
// gets a new one. The harness itself, as a static program, is the container's
// init and the shim of each command, so an image needs nothing but what the
// commands need. The init has a pipe to the harness: without it the container ends.
//
// The image is never pulled: it is there, or the sandbox does not work.
package docker

import (
	"time"

	"harness"
)

// Options of the sandbox.
type Options struct {
	// Command is the client and its global options; empty tries docker and podman.
	Command []string
	// Image is what containers are made of.
	Image string
	// Shim is a static Linux program that calls sandbox.Shim before anything
	// else; empty is the running one.
	Shim string
	// Idle is how long a container without processes lives; zero is ten minutes.
	Idle time.Duration
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
		harness.LimitPids:      "if the engine sets it",
		harness.LimitMemory:    "if the engine sets it",
		harness.LimitWallTime:  "yes",
		harness.LimitOutput:    "yes",
	}
}
