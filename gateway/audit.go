package gateway

import (
	"encoding/json"
	"log/slog"
	"strings"

	"harness"
)

// Record is who decided what, or was refused what.
type Record struct {
	Caller  harness.Caller // zero: a stranger
	Remote  string         // its address, if it sent a request
	Action  Action         // if Request was understood so far
	Request string         // what was asked, in the words of a protocol
	Session harness.SessionID
	Detail  string // what was decided: a verdict and about what, a mode, a rule
	Foreign bool   // the session is another user's; the caller was told that there is none
	Err     error  // nil: it was done, unless there is a Code
	Code    string // why it was refused, in the protocol's words
	Reason  string // the same, as the client was told
	LeftOut int    // refusals of the same party before this one that have no record

	clean func(string) string // see [AuditTo]
}

// refused reports whether something was.
func (r Record) refused() bool { return r.Foreign || r.Err != nil || r.Code != "" }

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

// result is how it ended, in one word.
func (r Record) result() string {
	switch {
	case r.Foreign:
		return "foreign"
	case r.Code != "":
		return r.Code
	case r.Err != nil:
		code, _ := told(r.Err)
		return code
	}
	return "ok"
}

// LogValue is the record's line in the audit log.
func (r Record) LogValue() slog.Value {
	if r.Err != nil && r.Reason == "" {
		_, r.Reason = told(r.Err)
	}
	action := r.Action.String()
	if r.Code != "" { // it did not come so far
		action = ""
	}
	attrs := make([]slog.Attr, 0, 11)
	add := func(name, text string) { attrs = append(attrs, slog.String(name, field(text, r.clean))) }
	add("caller", r.Caller.Name)
	add("user", r.Caller.User)
	add("role", string(r.Caller.Role))
	add("action", action)
	add("session", string(r.Session))
	add("detail", r.Detail)
	add("result", r.result())
	for _, more := range [...][2]string{{"reason", r.Reason}, {"request", r.Request}, {"remote", r.Remote}} {
		if more[1] != "" {
			add(more[0], more[1])
		}
	}
	if r.LeftOut > 0 {
		attrs = append(attrs, slog.Int("left_out", r.LeftOut))
	}
	return slog.GroupValue(attrs...)
}
