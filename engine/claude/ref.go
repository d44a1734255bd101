package claude

import (
	"encoding/json"

	"harness"
)

// ref is where a session stands in the program's own memory. It is the engine's
// checkpoint.
type ref struct {
	Session harness.SessionID `json:"session"`      // who recorded it; a branch inherits its parent's
	Claude  string            `json:"claude"`       // the program's session
	Turn    harness.TurnID    `json:"turn"`         // the turn that it was in
	Done    bool              `json:"done"`         // and had completed
	At      string            `json:"at,omitempty"` // the last message of that turn
	Asked   []asked           `json:"asked,omitempty"`
}

// asked is a call that somebody was being asked about.
type asked struct {
	Call   harness.CallID `json:"call"`
	Tool   string         `json:"tool"`
	Digest string         `json:"digest"` // of its input
}

func (r ref) String() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic("claude: a ref that is no JSON: " + err.Error())
	}
	return string(b)
}

// parseRef reads a checkpoint. One that another engine wrote is none.
func parseRef(s string) (r ref) {
	if json.Unmarshal([]byte(s), &r) != nil || r.Claude == "" {
		return ref{}
	}
	return r
}

// completed reports whether an earlier attempt at the turn got to its end.
func (r ref) completed(t harness.Turn) bool { return r.begun(t) && r.Done }

// begun reports whether an earlier attempt at the turn has told the program
// what it is about.
func (r ref) begun(t harness.Turn) bool { return r.Session == t.Session && r.Turn == t.ID }

// known finds the call that somebody was asked about in an earlier attempt.
func (r ref) known(tool string, input json.RawMessage) (harness.CallID, bool) {
	for _, a := range r.Asked {
		if a.Tool == tool && a.Digest == harness.Digest(input) {
			return a.Call, true
		}
	}
	return "", false
}
