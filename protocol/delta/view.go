package delta

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"harness"
	"harness/internal/object"
)

// timeForm is the log's: RFC 3339 in UTC with milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

// word is a session's status in S1's words.
func word(s harness.Status) string {
	switch s {
	case harness.Queued, harness.Running, harness.Recovering:
		return "running"
	case harness.AwaitingApproval:
		return "awaiting-approval"
	case harness.StatusFailed:
		return "error"
	case harness.Idle, harness.Paused, harness.StatusCompleted, harness.StatusCancelled:
	}
	return "idle"
}

// shownError is the view's error: S0 has one only while the status is "error".
// A failure that a retry may still heal is not shown.
func shownError(st *harness.State) string {
	if word(st.Status) == "error" {
		return st.Error
	}
	return ""
}

// appendView appends S1's state object for st, from message first on. sealed is
// the messages first … st.Sealed-1 as the store keeps them.
func appendView(dst []byte, st *harness.State, sealed [][]byte, first int) []byte {
	dst = append(dst, `{"status":"`...)
	dst = append(dst, word(st.Status)...)
	dst = append(dst, `","messages":[`...)
	start := len(dst)
	for _, m := range sealed {
		dst = append(appendRaw(dst, m), ',')
	}
	for _, m := range st.Messages[min(len(st.Messages), max(0, first-st.Sealed)):] {
		dst = append(appendMessage(dst, m), ',')
	}
	if len(dst) > start {
		dst = dst[:len(dst)-1]
	}
	dst = append(dst, ']')
	if len(st.Pending) > 0 {
		dst = appendApprovals(append(dst, `,"pendingApprovals":`...), st.Pending)
	}
	if st.Session != "" {
		dst = object.AppendString(append(dst, `,"sessionId":`...), string(st.Session))
	}
	if e := shownError(st); e != "" {
		dst = object.AppendString(append(dst, `,"error":`...), e)
	}
	if st.Rewound != nil {
		dst = appendRewound(append(dst, `,"rewind":`...), st.Rewound)
	}
	if lackOf(st.Lacks) != nil {
		dst = appendLacks(append(dst, `,"lacks":`...), st.Lacks)
	}
	if first > 0 {
		dst = strconv.AppendInt(append(dst, `,"firstMessage":`...), int64(first), 10)
	}
	return append(dst, '}')
}

// appendMessage appends m as EncodeMessage would, without reflection.
func appendMessage(dst []byte, m *harness.Message) []byte {
	dst = object.AppendString(append(dst, `{"id":`...), string(m.ID))
	dst = object.AppendString(append(dst, `,"role":`...), string(m.Role))
	dst = object.AppendString(append(dst, `,"content":`...), m.Content.Bytes())
	dst = object.AppendString(append(dst, `,"status":`...), string(m.Status))
	if len(m.Calls) > 0 {
		dst = append(dst, `,"toolCalls":[`...)
		for i, c := range m.Calls {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCall(dst, c)
		}
		dst = append(dst, ']')
	}
	if m.Reasoning.Len() > 0 {
		dst = object.AppendString(append(dst, `,"reasoning":`...), m.Reasoning.Bytes())
	}
	return append(dst, '}')
}

func appendCall(dst []byte, c *harness.Call) []byte {
	dst = object.AppendString(append(dst, `{"id":`...), string(c.ID))
	dst = object.AppendString(append(dst, `,"name":`...), c.Name)
	dst = object.AppendString(append(dst, `,"status":`...), string(c.Status))
	if len(c.Input) > 0 {
		dst = appendRaw(append(dst, `,"input":`...), c.Input)
	}
	if c.Output.Len() > 0 {
		dst = object.AppendString(append(dst, `,"output":`...), c.Output.Bytes())
	}
	if c.OutputBytes > 0 {
		dst = strconv.AppendInt(append(dst, `,"outputBytes":`...), int64(c.OutputBytes), 10)
	}
	dst = strconv.AppendInt(append(dst, `,"at":`...), int64(c.At), 10)
	return append(dst, '}')
}

func appendApprovals(dst []byte, pending []harness.Approval) []byte {
	dst = append(dst, '[')
	for i := range pending {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendApproval(dst, &pending[i])
	}
	return append(dst, ']')
}

func appendApproval(dst []byte, a *harness.Approval) []byte {
	dst = object.AppendString(append(dst, `{"toolCallId":`...), string(a.Call))
	dst = object.AppendString(append(dst, `,"toolName":`...), a.Tool)
	dst = object.AppendString(append(dst, `,"description":`...), a.Description)
	dst = object.AppendString(append(dst, `,"requestId":`...), string(a.ID))
	if in := approvalInput(a.Input); in != nil {
		dst = append(append(dst, `,"input":`...), in...)
	}
	if a.Reason != "" {
		dst = object.AppendString(append(dst, `,"reason":`...), a.Reason)
	}
	if a.Deadline != nil {
		dst = append(dst, `,"deadline":"`...)
		dst = a.Deadline.UTC().Truncate(time.Millisecond).AppendFormat(dst, timeForm)
		dst = append(dst, '"')
	}
	if a.Redacted {
		dst = append(dst, `,"redacted":true`...)
	}
	return append(dst, '}')
}

// approvalInput is what a question shows of its call's input: an object that
// JavaScript clients accept, or nothing. The log has it all.
func approvalInput(raw json.RawMessage) json.RawMessage {
	in, err := object.Normalize(raw)
	if err != nil || in[0] != '{' {
		return nil
	}
	return in
}

// appendRaw appends JSON that the fold made or the store kept. An engine's
// bytes may still spell half a surrogate pair or be no UTF-8, which would end
// a WebSocket; those, and only those, are read and written anew.
func appendRaw(dst, raw []byte) []byte {
	if utf8.Valid(raw) && !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return append(dst, raw...)
	}
	v, err := object.Normalize(raw)
	if err != nil { // too deep to read
		v = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return append(dst, v...)
}
