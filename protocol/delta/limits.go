package delta

import (
	"fmt"

	"harness"
)

// Limits lists the bounds of this protocol that a client can meet.
func Limits() []harness.Limit {
	return []harness.Limit{
		{Name: "WebSocket message", Value: harness.ByteSize(maxFrame), Reason: "the largest prompt, every byte of it escaped", Answer: "`too_large`, and the connection goes on"},
		{Name: "time for a WebSocket message", Value: messageFor.String(), Reason: "the largest one over a slow line; from its first byte to its last", Answer: "the connection closes with 1008"},
		{Name: "commands of a message", Value: fmt.Sprint(maxCommands), Reason: "what a person did while offline", Answer: "`too_large`, and none is done"},
		{Name: "reason of a denial", Value: harness.ByteSize(maxReason), Reason: "the model reads it at once", Answer: "`too_large`"},
		{Name: "time for a command", Value: doFor.String(), Reason: "a store that does not answer", Answer: "`unavailable`; it may still take effect"},
		{Name: "frames kept for a slow watcher", Value: harness.ByteSize(maxRing), Reason: "a laggard is better served by a fresh state", Answer: "a `state`"},
	}
}
