// Package wave says which tool calls of an answer may run at the same time.
//
// Calls that only read run together; whatever changes something, reaches the
// network or cannot be taken back runs alone. Calls never overtake each other.
// It is pure.
package wave

import (
	"slices"
	"strings"

	"harness"
	"harness/tool"
)

// Call is a call that wants to run.
type Call struct {
	ID   harness.CallID
	Plan tool.Plan
}

// MaxWidth bounds a wave: more at once only wait for the same disk.
const MaxWidth = 8

// Schedule puts calls into waves, by their index, in order: all of a wave may
// run at the same time, and each wave begins when the one before it has ended.
// The reason says why there is more than one.
func Schedule(calls []Call) (waves [][]int, reason string) {
	var why []string
	alone := "" // why the last wave takes no more
	for i, c := range calls {
		because := c.alone()
		last := len(waves) - 1
		if last >= 0 && because == "" && alone == "" && len(waves[last]) < MaxWidth {
			waves[last] = append(waves[last], i)
			continue
		}
		if last >= 0 {
			split := because
			switch {
			case split == "" && alone != "":
				split = alone
			case split == "":
				split = "only so many read at a time"
			}
			if !slices.Contains(why, split) {
				why = append(why, split)
			}
		}
		waves, alone = append(waves, []int{i}), because
	}
	return waves, strings.Join(why, "; ")
}

// alone is why a call shares no wave; empty if it may.
func (c Call) alone() string {
	switch {
	case c.Plan.Destructive:
		return "what cannot be taken back runs alone"
	case c.Plan.Access == harness.AccessRead:
		return ""
	case c.Plan.Access == harness.AccessEdit:
		return "edits run in order"
	case c.Plan.Access == harness.AccessNetwork:
		return "network calls run in order"
	}
	return "commands run in order"
}
