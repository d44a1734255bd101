package gateway

import (
	"encoding/json"
	"log/slog"
	"strings"

	"harness"
)

// Record is who decided what, or was refused what.
type Record struct {
	Caller  harness.Caller
	Action  Action
	Session harness.SessionID
	Detail  string // what was decided: a verdict and about what, a mode, a rule
	Foreign bool   // the session is another user's; the caller was told that there is none
	Err     error  // nil: it was done
}

// record is what a command decided.
func record(c harness.Caller, a Action, id harness.SessionID, cmd harness.Command, err error) Record {
	r := Record{Caller: c, Action: a, Session: id, Err: err}
	switch cmd := cmd.(type) {
	case harness.Answer:
		about := string(cmd.Approval)
		if about == "" {
			about = "call " + string(cmd.Call)
		}
		r.Detail = string(cmd.Decision.Verdict) + " " + string(cmd.Decision.Scope) + " " + about
	case harness.Configure:
		r.Detail = trusted(cmd.Patch)
	}
	return r
}

// trusted is what of a patch makes a session ask less or more, in words.
func trusted(p harness.ConfigPatch) string {
	var all []string
	if p.PermissionMode != nil {
		all = append(all, string(*p.PermissionMode))
	}
	if p.Health != nil {
		limits, _ := json.Marshal(p.Health) // numbers and words always can be
		all = append(all, "health "+string(limits))
	}
	return strings.Join(all, " ")
}

// LogValue is the record's line in the audit log.
func (r Record) LogValue() slog.Value {
	result := "ok"
	switch {
	case r.Foreign:
		result = "foreign"
	case r.Err != nil:
		result = harness.AsError(r.Err).Code
	}
	return slog.GroupValue(
		slog.String("caller", printable(r.Caller.Name, maxField)), slog.String("user", printable(r.Caller.User, maxField)), slog.String("role", string(r.Caller.Role)),
		slog.String("action", r.Action.String()), slog.String("session", printable(string(r.Session), maxField)), slog.String("detail", printable(r.Detail, maxField)),
		slog.String("result", result),
	)
}
