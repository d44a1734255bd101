package kernel

import (
	"fmt"

	"harness"
)

// maxQueue is the default of [Options.MaxQueue].
const maxQueue = 64

// Limits lists the bounds of a session that a client can meet, as they are
// unless the options say otherwise.
func Limits() []harness.Limit {
	return []harness.Limit{
		{Name: "prompt", Value: harness.ByteSize(harness.MaxPrompt), Reason: "more than any model takes as instructions", Answer: "`too_large`: an `error` over WebSocket, 400, −32602"},
		{Name: "title", Value: harness.ByteSize(harness.MaxTitle), Reason: "a line of a list", Answer: "`invalid`: 400, −32602"},
		{Name: "id", Value: fmt.Sprintf("%d characters", harness.MaxID), Reason: "a file name and an index key", Answer: "`invalid`: an `error` over WebSocket, 400, −32602"},
		{Name: "prompts that wait in a session", Value: fmt.Sprint(maxQueue), Reason: "more than anybody types ahead", Answer: "`queue_full`: an `error` over WebSocket, 429, −32002"},
		{Name: "words to a running turn", Value: fmt.Sprint(maxSteers), Reason: "they stay in memory until it ends", Answer: "`queue_full`: an `error` over WebSocket, 429, −32002"},
		{Name: "what a session stores", Value: harness.ByteSize(MaxLog), Reason: "weeks of an agent that never rests, its artifacts included", Answer: "the turn ends with the error `session_full`; after that `quota_exceeded`: an `error` over WebSocket, 403, −32007; a branch goes on"},
		{Name: "artifact", Value: harness.ByteSize(harness.MaxArtifact), Reason: "it is held in memory while it is kept", Answer: "the tool's call fails"},
		{Name: "tasks below tasks", Value: fmt.Sprint(maxDepth), Reason: "an agent that hands everything on", Answer: "the tool's call fails"},
	}
}
