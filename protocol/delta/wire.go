package delta

import (
	"encoding/json"

	"harness"
)

// These structs describe what the hub writes and reads; [Schema] is made from
// them. The bytes are made by hand, in view.go and frame.go; a test reads them
// back into these structs and finds nothing more and nothing less.
type (
	harnessState struct {
		Status           string            `json:"status" rule:"words=idle|running|awaiting-approval|error"`
		Messages         []harnessMessage  `json:"messages"`
		PendingApprovals []pendingApproval `json:"pendingApprovals,omitempty"`
		SessionID        harness.SessionID `json:"sessionId,omitempty"`
		Error            string            `json:"error,omitempty"`
		Rewind           *rewind           `json:"rewind,omitempty"`
		Lacks            *lacks            `json:"lacks,omitempty"`
		FirstMessage     int               `json:"firstMessage,omitempty"`
	}
	// The store keeps messages in the form that clients get.
	harnessMessage  harness.Message
	harnessToolCall harness.Call
	pendingApproval struct {
		ToolCallID  harness.CallID     `json:"toolCallId"`
		ToolName    string             `json:"toolName"`
		Description string             `json:"description"`
		RequestID   harness.ApprovalID `json:"requestId"`
		Input       json.RawMessage    `json:"input,omitempty"`
		Reason      string             `json:"reason,omitempty"`
		Deadline    string             `json:"deadline,omitempty"`
		Redacted    bool               `json:"redacted,omitempty"` // a part of it is not shown: it can be allowed once only
	}
	rewind rewound
)

// The operations of assistant-stream.
type (
	setOperation struct {
		Type  string          `json:"type" rule:"words=set"`
		Path  []string        `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	appendTextOperation struct {
		Type  string   `json:"type" rule:"words=append-text"`
		Path  []string `json:"path"`
		Value string   `json:"value"`
	}
)

// Server to client.
type (
	stateMessage struct {
		Type  string       `json:"type" rule:"words=state"`
		Seq   harness.Seq  `json:"seq"`
		State harnessState `json:"state"`
	}
	deltaMessage struct {
		Type       string            `json:"type" rule:"words=delta"`
		Seq        harness.Seq       `json:"seq"`
		Operations []json.RawMessage `json:"operations"`
	}
	errorMessage struct {
		Type      string `json:"type" rule:"words=error"`
		Message   string `json:"message"`
		Code      string `json:"code"`
		CommandID string `json:"commandId,omitempty"`
	}
	ackMessage struct {
		Type      string      `json:"type" rule:"words=ack"`
		CommandID string      `json:"commandId"`
		Seq       harness.Seq `json:"seq"`
	}
	heartbeatMessage struct {
		Type string      `json:"type" rule:"words=hb"`
		Seq  harness.Seq `json:"seq"`
		TS   string      `json:"ts"`
	}
)

// Client to server.
type (
	submitCommand struct {
		Type      string `json:"type" rule:"words=submit"`
		Prompt    string `json:"prompt"`
		CommandID string `json:"commandId,omitempty"`
	}
	resumeCommand struct {
		Type      string            `json:"type" rule:"words=resume"`
		Prompt    string            `json:"prompt"`
		SessionID harness.SessionID `json:"sessionId"`
		CommandID string            `json:"commandId,omitempty"`
	}
	cancelCommand struct {
		Type      string `json:"type" rule:"words=cancel"`
		CommandID string `json:"commandId,omitempty"`
	}
	steerCommand struct {
		Type      string `json:"type" rule:"words=steer"`
		Message   string `json:"message"`
		CommandID string `json:"commandId,omitempty"`
	}
	approveCommand struct {
		Type       string             `json:"type" rule:"words=approve"`
		ToolCallID harness.CallID     `json:"toolCallId"`
		RequestID  harness.ApprovalID `json:"requestId,omitempty"`
		CommandID  string             `json:"commandId,omitempty"`
	}
	denyCommand struct {
		Type       string             `json:"type" rule:"words=deny"`
		ToolCallID harness.CallID     `json:"toolCallId"`
		Reason     string             `json:"reason,omitempty"`
		RequestID  harness.ApprovalID `json:"requestId,omitempty"`
		CommandID  string             `json:"commandId,omitempty"`
	}
	configureCommand struct {
		Type      string        `json:"type" rule:"words=configure"`
		Config    configuration `json:"config"`
		CommandID string        `json:"commandId,omitempty"`
	}
	configuration struct {
		PermissionMode string `json:"permissionMode,omitempty" rule:"words=default|acceptEdits|fullAuto"`
		MaxTurns       int    `json:"maxTurns,omitempty"`
		Model          string `json:"model,omitempty"`
		SystemPrompt   string `json:"systemPrompt,omitempty"`
		Effort         string `json:"effort,omitempty" rule:"words=low|medium|high|max"`
	}
	rewindCommand struct {
		Type      string         `json:"type" rule:"words=rewind"`
		MessageID harness.ItemID `json:"messageId"`
		DryRun    bool           `json:"dryRun,omitempty"`
		Force     bool           `json:"force,omitempty"`
		CommandID string         `json:"commandId,omitempty"`
	}
)
