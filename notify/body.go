package notify

import (
	"encoding/json"
	"time"

	"harness"
)

// body is what a hook is sent: what happened and to which session, and nothing
// of what was said there.
type body struct {
	Type      string    `json:"type"` // session. and the kind, or test
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

type data struct {
	EventID   string             `json:"event_id"`
	SessionID harness.SessionID  `json:"session_id"`
	Seq       harness.Seq        `json:"seq"`
	TurnID    harness.TurnID     `json:"turn_id,omitempty"`
	Kind      harness.Kind       `json:"kind,omitempty"`
	UserID    string             `json:"user_id,omitempty"`
	Title     string             `json:"title,omitempty"`
	Engine    string             `json:"engine,omitempty"`
	Reason    string             `json:"reason,omitempty"`
	RequestID harness.ApprovalID `json:"request_id,omitempty"`
	ToolName  string             `json:"tool_name,omitempty"`
	Path      string             `json:"path"` // of the session on this server
}

// Body is the JSON that tells of a notice about a session, or of a test.
func Body(n Notice, s harness.Summary) []byte {
	kind, path := "session."+string(n.Kind), "/sessions/"+string(n.Session)
	if n.Kind == Test {
		kind, path = string(Test), "/"
	}
	b, err := json.Marshal(body{kind, n.Time.UTC(), data{
		n.ID, n.Session, n.Seq, n.Turn, s.Kind, s.User, s.Title, s.Engine, n.Reason, n.Request, n.Tool, path,
	}})
	if err != nil {
		panic("notify: " + err.Error()) // it is made of strings and numbers
	}
	return b
}
