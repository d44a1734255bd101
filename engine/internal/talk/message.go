package talk

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Message is a request, a response or a notification.
type Message struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error is a refusal.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Codes of refusals.
const (
	CodeInvalid  = -32602
	CodeUnknown  = -32601
	CodeInternal = -32603
)

func (e *Error) Error() string {
	s := fmt.Sprintf("%s (%d)", e.Message, e.Code)
	if d := bytes.TrimSpace(e.Data); len(d) > 0 && !bytes.Equal(d, []byte("null")) && len(d) < maxBrief {
		s += " " + string(d)
	}
	return s
}

// Decode reads a line.
func Decode(line []byte) (*Message, error) {
	m := new(Message)
	if err := json.Unmarshal(line, m); err != nil {
		return nil, fmt.Errorf("a line that is no message: %q: %w", line[:min(len(line), 120)], err)
	}
	return m, nil
}

// Read reads a message's parameters.
func (m *Message) Read(into any) error {
	if err := json.Unmarshal(m.Params, into); err != nil {
		return fmt.Errorf("a %s that cannot be read: %w", m.Method, err)
	}
	return nil
}
