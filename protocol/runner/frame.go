package runner

import (
	"bytes"
	"encoding/json"
	"strconv"

	"harness"
)

// Kind is what an event of a run is about.
type Kind string

// The events of S2.
const (
	Started   Kind = "run.started"
	Delta     Kind = "assistant.delta"
	ToolStart Kind = "tool.started"
	Completed Kind = "run.completed"
	Failed    Kind = "run.error"
)

// The events added to them.
const (
	ToolOutput  Kind = "tool.output"
	ToolDone    Kind = "tool.completed"
	Asked       Kind = "approval.requested"
	Reasoning   Kind = "reasoning.delta"
	UsageSoFar  Kind = "usage"
	Checkpoint  Kind = "checkpoint"
	Content     Kind = "artifact.content" // a piece of the artifact that the next event of the inventory tells of
	TaskAsked   Kind = "task.requested"   // work for a session of its own
	TaskDropped Kind = "task.dropped"     // nobody waits for it any more
	Other       Kind = "event"            // any other event of S3's inventory
	Cancelled   Kind = "run.cancelled"
)

// Ends reports whether a run is over with such an event.
func (k Kind) Ends() bool { return k == Completed || k == Failed || k == Cancelled }

// Frame is one event of a run. Which fields it has depends on its kind.
type Frame struct {
	ID   uint64 `json:"-"` // 1, 2, 3 …; 0 if the runner does not number
	Type Kind   `json:"type"`

	// S2's.
	RequestID string          `json:"requestId,omitempty"`
	Text      string          `json:"text,omitempty"`
	ToolName  string          `json:"toolName,omitempty"`
	ToolUseID harness.CallID  `json:"toolUseId,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`    // a string
	SessionID string          `json:"sessionId,omitempty"` // the engine's own; what resume takes
	Message   string          `json:"message,omitempty"`

	Attempt     int             `json:"attempt,omitempty"`
	ItemID      harness.ItemID  `json:"itemId,omitempty"`
	MessageID   harness.ItemID  `json:"messageId,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Stream      string          `json:"stream,omitempty"`
	Status      string          `json:"status,omitempty"`
	ElapsedMS   int64           `json:"elapsedMs,omitempty"`
	Output      json.RawMessage `json:"output,omitempty"`
	Error       string          `json:"error,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	ArtifactID  string          `json:"artifactId,omitempty"`
	Access      harness.Access  `json:"access,omitempty"`
	Description string          `json:"description,omitempty"`
	Ref         string          `json:"ref,omitempty"`
	Retryable   bool            `json:"retryable,omitempty"`
	Unread      []string        `json:"unread,omitempty"` // keys of words that the engine never took
	*Usage
	Task *Task `json:"task,omitempty"`

	Name    harness.Type    `json:"name,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Content []byte          `json:"content,omitempty"` // in base64
}

// Usage is what a run cost so far.
type Usage struct {
	InputTokens  int64    `json:"inputTokens"`
	OutputTokens int64    `json:"outputTokens"`
	CachedTokens int64    `json:"cachedTokens,omitempty"`
	CostUSD      *float64 `json:"costUsd"` // null when the price is unknown
	ContextPct   *float64 `json:"contextPct,omitempty"`
	Model        string   `json:"model,omitempty"`
}

// appendSSE appends a frame as it goes over the wire.
func (f *Frame) appendSSE(b []byte) ([]byte, error) {
	data, err := encode(f)
	if err != nil {
		return b, err
	}
	b = append(b, "id: "...)
	b = strconv.AppendUint(b, f.ID, 10)
	b = append(b, "\nevent: "...)
	b = append(b, f.Type...)
	b = append(b, "\ndata: "...)
	b = append(b, data...)
	return append(b, "\n\n"...), nil
}

// encode is v as JSON on one line, with <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
