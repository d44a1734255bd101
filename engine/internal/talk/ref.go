package talk

import (
	"encoding/json"

	"harness"
)

// Ref is where a session stands in a program's own memory. It is the engine's
// checkpoint.
type Ref struct {
	Engine  string            `json:"engine"`
	Session harness.SessionID `json:"session"`      // who recorded it; a branch inherits its parent's
	Thread  string            `json:"thread"`       // the program's conversation
	Turn    harness.TurnID    `json:"turn"`         // the turn that it was in
	Done    bool              `json:"done"`         // and had completed
	At      string            `json:"at,omitempty"` // the program's word for that place
	Asked   []Asked           `json:"asked,omitempty"`
	Cost    float64           `json:"cost,omitempty"`   // of the conversation so far, in USD, if the program counts it
	Unsaid  string            `json:"unsaid,omitempty"` // to the turn, which failed before the program heard it
}

// Asked is a call that somebody was being asked about.
type Asked struct {
	Call   harness.CallID `json:"call"`
	Tool   string         `json:"tool"`
	Digest string         `json:"digest"` // of its input
}

func (r Ref) String() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic("talk: a ref that is no JSON: " + err.Error())
	}
	return string(b)
}

// ParseRef reads a checkpoint. One that another engine wrote is none.
func ParseRef(engine, s string) (r Ref) {
	if json.Unmarshal([]byte(s), &r) != nil || r.Engine != engine || r.Thread == "" {
		return Ref{}
	}
	return r
}

// Completed reports whether an earlier attempt at the turn got to its end.
func (r Ref) Completed(t harness.Turn) bool { return r.Begun(t) && r.Done }

// Begun reports whether an earlier attempt at the turn has told the program
// what it is about.
func (r Ref) Begun(t harness.Turn) bool {
	return r.Thread != "" && r.Session == t.Session && r.Turn == t.ID
}

// Known finds the call that somebody was asked about in an earlier attempt.
func (r Ref) Known(tool string, input json.RawMessage) (harness.CallID, bool) {
	for _, a := range r.Asked {
		if a.Tool == tool && a.Digest == harness.Digest(input) {
			return a.Call, true
		}
	}
	return "", false
}

// Lost says that the program does not have the conversation.
type Lost struct{ Why string }

func (e *Lost) Error() string { return "the program's conversation is lost: " + e.Why }

// Diagnostic is what the log says of it.
func (e *Lost) Diagnostic() *harness.TransportDiagnostic {
	return &harness.TransportDiagnostic{Status: "degraded", Kind: "resume_lost", Reason: e.Why}
}

// Onward is said to a program that was interrupted.
const Onward = "The last attempt at this was interrupted. Go on from where it stopped."
