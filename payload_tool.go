package harness

import (
	"encoding/json"
	"time"
)

// ToolCall announces a call. The engine's own id goes along on every later
// event about it.
type ToolCall struct {
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	ToolCallID CallID          `json:"tool_call_id"`
	ItemID     ItemID          `json:"item_id,omitempty"`    // the call's own item
	MessageID  ItemID          `json:"message_id,omitempty"` // the assistant message it belongs to
}

// ToolLog is output of a call while it runs.
type ToolLog struct {
	ToolCallID CallID `json:"tool_call_id"`
	Stream     string `json:"stream,omitempty"` // stdout or stderr
	Text       string `json:"text"`
}

// ToolResult is the rendered result of a call that succeeded; it does not
// replace the outcome.
type ToolResult struct {
	ToolCallID CallID          `json:"tool_call_id"`
	ToolName   string          `json:"tool_name,omitempty"`
	Output     string          `json:"output,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
}

// Outcomes of a tool call, in S3's words.
const (
	OutcomeOK       = "ok"
	OutcomeTimeout  = "timeout"
	OutcomeError    = "error"
	OutcomeDenied   = "denied"
	OutcomeArtifact = "artifact"
)

// OutcomeType is the typed name that goes with an outcome's status.
func OutcomeType(status string) string {
	switch status {
	case OutcomeOK:
		return "ToolExecutionResult"
	case OutcomeTimeout:
		return "ToolTimeout"
	case OutcomeDenied:
		return "ToolDenied"
	case OutcomeArtifact:
		return "ToolArtifactReference"
	default:
		return "ToolFailure"
	}
}

// ToolOutcome is the one terminal event of a call.
type ToolOutcome struct {
	ToolCallID  CallID          `json:"tool_call_id"`
	ToolName    string          `json:"tool_name"`
	OutcomeType string          `json:"outcome_type"`
	Status      string          `json:"status"`
	ElapsedMS   int64           `json:"elapsed_ms"`
	Result      json.RawMessage `json:"result,omitempty"`
	Error       string          `json:"error,omitempty"`
	Reason      string          `json:"reason,omitempty"` // cancelled, interrupted, or why it was denied
	ArtifactID  string          `json:"artifact_id,omitempty"`
}

// ToolBatch says which calls ran together and why.
type ToolBatch struct {
	Waves  [][]CallID `json:"waves"`
	Reason string     `json:"reason,omitempty"`
}

// ToolSelected says which tools were offered, with scores.
type ToolSelected struct {
	Tools []ToolScore `json:"tools"`
}

// ToolScore is one selected tool.
type ToolScore struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
}

// ToolValidationError says that arguments were wrong and whether they could be
// repaired.
type ToolValidationError struct {
	ToolCallID CallID   `json:"tool_call_id"`
	ToolName   string   `json:"tool_name"`
	Errors     []string `json:"errors"`
	Repaired   bool     `json:"repaired"`
}

// ApprovalRequired is a durable question: may this call run?
type ApprovalRequired struct {
	RequestID   ApprovalID      `json:"request_id"`
	ToolName    string          `json:"tool_name"`
	Reason      string          `json:"reason,omitempty"`
	ToolCallID  CallID          `json:"tool_call_id"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Digest      string          `json:"digest,omitempty"`   // of the arguments that will run; see [Digest]
	Redacted    bool            `json:"redacted,omitempty"` // Input or ToolName lack what looks like a secret: only once can be allowed
	Deadline    *time.Time      `json:"deadline,omitempty"`
}

// ApprovalApplied is the answer, given exactly once.
type ApprovalApplied struct {
	RequestID  ApprovalID `json:"request_id"`
	ToolName   string     `json:"tool_name"`
	ToolCallID CallID     `json:"tool_call_id"`
	Decision   Verdict    `json:"decision"`
	Scope      Scope      `json:"scope,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	Actor      string     `json:"actor,omitempty"`
	Source     Decider    `json:"source"`
	Digest     string     `json:"digest,omitempty"`  // of the arguments that it is about
	RuleID     RuleID     `json:"rule_id,omitempty"` // the standing rule that it made, or that released it
	Pattern    string     `json:"pattern,omitempty"` // which calls an allowance of the session is about; see [Grant]
}

func (*ToolCall) Type() Type            { return "tool_call" }
func (*ToolLog) Type() Type             { return "tool_log" }
func (*ToolResult) Type() Type          { return "tool_result" }
func (*ToolOutcome) Type() Type         { return "tool_outcome" }
func (*ToolBatch) Type() Type           { return "tool_batch" }
func (*ToolSelected) Type() Type        { return "tool_selected" }
func (*ToolValidationError) Type() Type { return "tool_validation_error" }
func (*ApprovalRequired) Type() Type    { return "approval_required" }
func (*ApprovalApplied) Type() Type     { return "approval_applied" }

func (*ToolCall) payload()            {}
func (*ToolLog) payload()             {}
func (*ToolResult) payload()          {}
func (*ToolOutcome) payload()         {}
func (*ToolBatch) payload()           {}
func (*ToolSelected) payload()        {}
func (*ToolValidationError) payload() {}
func (*ApprovalRequired) payload()    {}
func (*ApprovalApplied) payload()     {}
