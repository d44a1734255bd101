package program

import (
	"slices"

	"harness"
)

// Path is where programs look for others, whatever the server's own says.
const Path = "PATH=/usr/local/bin:/usr/bin:/bin"

// Around says to operators what bounds a program whose own sandbox is off: ours,
// if there is one that keeps it to its workspace.
func Around(name string) func(harness.Isolation) string {
	return func(is harness.Isolation) string {
		if slices.Contains(is.Enforces, harness.GuardWrite) {
			return name + "'s own sandbox is off: this one is around it"
		}
		return name + "'s own sandbox is off and none is around it: it can do what the server can"
	}
}
