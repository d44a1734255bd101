package harness

import (
	"bytes"
	"encoding/json"
)

// Message is one entry of the conversation. Its JSON form is S0's, because the
// store keeps finished messages in the form that clients get, and a snapshot
// of a sleeping session is served without decoding them.
type Message struct {
	ID        ItemID        `json:"id"`
	Role      Role          `json:"role"`
	Content   Text          `json:"content"`
	Status    MessageStatus `json:"status"`
	Calls     []*Call       `json:"toolCalls,omitempty"`
	Reasoning Text          `json:"reasoning,omitzero"`
}

// Role says who speaks.
type Role string

// The roles of S0.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// MessageStatus is S0's lifecycle of a message.
type MessageStatus string

// The lifecycle: pending, then streaming, then complete; or error.
const (
	MessagePending   MessageStatus = "pending"
	MessageStreaming MessageStatus = "streaming"
	MessageComplete  MessageStatus = "complete"
	MessageError     MessageStatus = "error"
)

// CallStatus is S1's status of a tool call.
type CallStatus string

// The statuses of S1.
const (
	CallRunning  CallStatus = "running"
	CallAwaiting CallStatus = "awaiting-approval"
	CallComplete CallStatus = "complete"
	CallError    CallStatus = "error"
	CallDenied   CallStatus = "denied"
)

// MaxPreview bounds the output that a message carries; the log has it all. A
// snapshot of a conversation must not be mostly tool output.
const MaxPreview = 8 << 10

// Call is a tool call inside a message.
type Call struct {
	ID          CallID          `json:"id"`
	Name        string          `json:"name"`
	Status      CallStatus      `json:"status"`
	Input       json.RawMessage `json:"input,omitempty"`
	Output      Text            `json:"output,omitzero"`
	OutputBytes int             `json:"outputBytes,omitempty"` // set when Output is only a preview
	At          int             `json:"at"`                    // UTF-16 length of the content when the call began
}

// clone is a deep copy, except for text that is never written again.
func (m *Message) clone() *Message {
	c := *m
	c.Content, c.Reasoning = m.Content.Clone(), m.Reasoning.Clone()
	c.Calls = nil
	for _, call := range m.Calls {
		cc := *call
		cc.Output = call.Output.Clone()
		c.Calls = append(c.Calls, &cc)
	}
	return &c
}

// final reports whether nothing will change about the message any more.
func (m *Message) final() bool { return m.Status == MessageComplete || m.Status == MessageError }

// close ends the message: complete if it has anything to show, else error.
func (m *Message) close() {
	if m.final() {
		return
	}
	m.Status = MessageError
	if m.Content.Len() > 0 || len(m.Calls) > 0 {
		m.Status = MessageComplete
	}
}

// safeInput returns a tool's arguments as S1's input object. Arguments that
// are not an object go under "value". An object with a key that makes
// JavaScript clients drop the whole message (__proto__, constructor,
// prototype) is left out; the log still has it.
func safeInput(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) || !json.Valid(raw) {
		return nil
	}
	if raw[0] != '{' {
		raw = append(append([]byte(`{"value":`), raw...), '}')
	}
	var v any
	if json.Unmarshal(raw, &v) != nil || unsafe(v) {
		return nil
	}
	return appendJSON(nil, raw)
}

func unsafe(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if k == "__proto__" || k == "constructor" || k == "prototype" || unsafe(e) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if unsafe(e) {
				return true
			}
		}
	}
	return false
}
