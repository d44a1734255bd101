package codex

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"

	"harness"
	"harness/engine/internal/talk"
)

// approval is something that the program wants to be allowed.
type approval struct {
	place
	ApprovalID  string          `json:"approvalId"`
	Command     string          `json:"command"`
	Dir         string          `json:"cwd"`
	Reason      string          `json:"reason"`
	Network     json.RawMessage `json:"networkApprovalContext"`
	Permissions json.RawMessage `json:"permissions"`
	Questions   json.RawMessage `json:"questions"`
	Server      string          `json:"serverName"`
	Message     string          `json:"message"`
	Mode        string          `json:"mode"`
}

// requested is something that the program wants.
func (r *run) requested(ctx context.Context, m *talk.Message) error {
	f := forms[m.Method]
	if f == nil {
		r.tr.strange.Count(m.Method)
		return r.talk.Refuse(m.ID, talk.CodeUnknown, "not supported: "+m.Method)
	}
	var a approval
	if err := m.Read(&a); err != nil {
		return err
	}
	use := f(r, &a)
	c := r.tr.calls.Find(a.Item)
	answered := c != nil && (c.Allowed || c.Refused())
	switch {
	case !ofItem[m.Method] || answered || a.ApprovalID != "" || a.Thread != r.thread: // a call of its own
		c = r.tr.calls.Know(a.Item+"?"+string(m.ID), use.Tool, use.Input)
	case c == nil:
		c = r.tr.calls.Know(a.Item, use.Tool, use.Input)
	default:
		use.Tool, use.Input = c.Name, c.Input
	}
	if err := r.talk.Emit(ctx, r.tr.calls.Tell(c)...); err != nil {
		return err
	}
	use.Call, use.Reason = c.ID, a.Reason
	r.talk.Ask(m.ID, use, func(ctx context.Context, d harness.Decision) error { return r.decided(ctx, m, &a, c, d) })
	return nil
}

// ofItem are the requests about a call that is an item, whose end will be told.
var ofItem = map[string]bool{"item/commandExecution/requestApproval": true, "item/fileChange/requestApproval": true}

// forms say what is asked by each kind of request.
var forms = map[string]func(*run, *approval) harness.ToolUse{
	"item/commandExecution/requestApproval": func(_ *run, a *approval) harness.ToolUse {
		u := harness.ToolUse{Tool: "exec_command", Access: harness.AccessExecute, Input: object("command", line(a.Command), "cwd", a.Dir), Description: line(a.Command)}
		if len(a.Network) > 0 && string(a.Network) != "null" {
			u.Access = harness.AccessNetwork
		}
		return u
	},
	"item/fileChange/requestApproval": func(r *run, a *approval) harness.ToolUse {
		return harness.ToolUse{Tool: "apply_patch", Access: r.edits(a.Item), Input: object(), Description: "Change files"}
	},
	"item/permissions/requestApproval": func(_ *run, a *approval) harness.ToolUse {
		return harness.ToolUse{Tool: "request_permissions", Access: harness.AccessExecute, Input: object("permissions", a.Permissions), Description: "Have more permissions"}
	},
	question: func(_ *run, a *approval) harness.ToolUse {
		return harness.ToolUse{Tool: "request_user_input", Access: harness.AccessExecute, Input: object("questions", a.Questions), Description: ask(a.Questions)}
	},
	"mcpServer/elicitation/request": func(_ *run, a *approval) harness.ToolUse {
		return harness.ToolUse{Tool: "mcp__" + a.Server, Access: harness.AccessNetwork, Input: object("message", a.Message, "mode", a.Mode), Description: a.Message}
	},
}

// edits classes a change of files: what leaves the workspace, or changes what
// the program itself goes by, is more than an edit.
func (r *run) edits(item string) harness.Access {
	changes := r.tr.changes[item]
	if len(changes) == 0 {
		return harness.AccessExecute
	}
	for _, ch := range changes {
		paths := []string{ch.Path}
		if ch.Kind.Move != nil {
			paths = append(paths, *ch.Kind.Move)
		}
		for _, p := range paths {
			if !within(r.turn.Directory, r.turn.Directory, p) || within(r.turn.Directory, r.home, p) {
				return harness.AccessExecute
			}
		}
	}
	return harness.AccessEdit
}

// within reports whether a path is below a directory.
func within(base, directory, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	rel, err := filepath.Rel(directory, path)
	return err == nil && filepath.IsLocal(rel)
}

// decided tells the program what was decided. It takes no reason with a refusal,
// so that is said to the turn.
func (r *run) decided(ctx context.Context, m *talk.Message, a *approval, c *talk.Call, d harness.Decision) error {
	yes := d.Verdict == harness.Allow
	if yes {
		c.Allow()
	} else {
		c.Refuse(cmp.Or(d.Reason, "it was not allowed"))
		if d.Source == harness.ByUser && d.Reason != "" && a.Thread == r.thread {
			if err := r.interject(inputs(nil, "I declined "+c.Name+": "+d.Reason)); err != nil {
				return err
			}
		}
	}
	if c != r.tr.calls.Find(a.Item) { // no item tells how it ended
		if err := r.talk.Emit(ctx, r.tr.calls.Close(c, talk.End{})...); err != nil {
			return err
		}
	}
	return r.talk.Reply(m.ID, verdict(m.Method, a, yes, d.Reason))
}

// verdict is a decision in the program's words. That something is allowed for
// longer than once is the session's to remember, where it can be revoked.
func verdict(method string, a *approval, yes bool, said string) any {
	switch method {
	case "item/permissions/requestApproval":
		if !yes {
			a.Permissions = object()
		}
		return map[string]any{"permissions": a.Permissions, "scope": "turn"}
	case question:
		return map[string]any{"answers": answers(a.Questions, yes, said)}
	case "mcpServer/elicitation/request":
		if !yes || a.Mode == "url" {
			return map[string]any{"action": "decline", "content": nil}
		}
		content := json.RawMessage("{}")
		if json.Valid([]byte(said)) && len(said) > 0 && said[0] == '{' {
			content = json.RawMessage(said)
		}
		return map[string]any{"action": "accept", "content": content}
	}
	if yes {
		return map[string]string{"decision": "accept"}
	}
	return map[string]string{"decision": "decline"}
}
