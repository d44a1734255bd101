package bridgetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"harness"
)

// Tell is a log in words, without what differs from run to run. What a turn used
// of which nobody knows the cost is told once, when it is complete, and only what
// the model said of it: what it was told has the length of paths in it.
func Tell(log []harness.Event) string {
	var out []string
	var used *harness.Usage
	for _, e := range log {
		line := tell(e.Payload)
		switch p := e.Payload.(type) {
		case *harness.TurnStart:
			used = nil
		case *harness.Usage:
			used = p
		case *harness.TurnEnd:
			if used != nil && used.CostUSD == nil && p.Status == harness.TurnCompleted {
				out = append(out, fmt.Sprintf("used out=%d", used.OutputTokens))
			}
		}
		if n := len(out) - 1; n >= 0 && (e.Type() == "token" || e.Type() == "thinking") && strings.HasPrefix(out[n], string(e.Type())+" ") {
			out[n] += strings.TrimPrefix(line, string(e.Type())+" ")
			continue
		}
		if line != "" {
			out = append(out, line)
		}
	}
	for i, line := range out {
		out[i] = strings.ReplaceAll(line, "\n", `\n`)
	}
	return strings.Join(out, "\n") + "\n"
}

func tell(p harness.Payload) string {
	switch p := p.(type) {
	case *harness.UserMessage:
		return fmt.Sprintf("user_message %s %s", p.Source, harness.PlainText(p.Parts))
	case *harness.TurnStart:
		return fmt.Sprintf("turn_start attempt=%d", p.Attempt)
	case *harness.Token:
		return "token " + p.Text
	case *harness.Thinking:
		return "thinking " + p.Text
	case *harness.Response:
		return fmt.Sprintf("response %q %s", p.Text, p.StopReason)
	case *harness.ToolCall:
		return fmt.Sprintf("tool_call %s %s %s", p.ToolCallID, p.Name, canonical(p.Arguments))
	case *harness.ToolResult:
		return fmt.Sprintf("tool_result %s %q structured=%t", p.ToolCallID, p.Output, len(p.Result) > 0)
	case *harness.ToolOutcome:
		return fmt.Sprintf("tool_outcome %s %s %s %q", p.ToolCallID, p.Status, p.Reason, p.Error)
	case *harness.ApprovalRequired:
		return fmt.Sprintf("approval_required %s %s %q", p.ToolCallID, p.ToolName, p.Description)
	case *harness.ApprovalApplied:
		return fmt.Sprintf("approval_applied %s %s %s %s %q", p.ToolCallID, p.Decision, p.Scope, p.Source, p.Reason)
	case *harness.SubagentEvent:
		return fmt.Sprintf("subagent_event %s %s %q %q", p.AgentID, p.Status, p.Task, p.Summary)
	case *harness.StepProgress:
		return fmt.Sprintf("step_progress %d/%d %s %s", p.Index, p.Total, p.Status, p.Title)
	case *harness.TransportDiagnostic:
		return fmt.Sprintf("transport_diagnostic %s %s %d", p.Status, p.Kind, p.FailureCount)
	case *harness.SessionCheckpoint:
		if strings.Contains(p.EngineRef, `"asked"`) { // somebody took more than a second to answer
			return ""
		}
		return fmt.Sprintf("checkpoint done=%t", strings.Contains(p.EngineRef, `"done":true`))
	case *harness.Failure:
		return fmt.Sprintf("error %s %s %t", made.ReplaceAllString(p.Message, "MADE-UP"), p.Code, p.Retryable)
	case *harness.TurnEnd:
		return fmt.Sprintf("turn_end %s %s", p.Status, p.Reason)
	case *harness.SandboxNotice:
		return "sandbox_notice " + p.Isolation
	case *harness.SessionState, *harness.HookEvent, *harness.PolicyDecision:
		return ""
	case *harness.Usage:
		if p.CostUSD == nil { // it may be on its way: that and what else is told come in any order
			return ""
		}
		return fmt.Sprintf("usage in=%t out=%t cost=%t context=%t", p.InputTokens > 0, p.OutputTokens > 0, *p.CostUSD > 0, p.ContextPct != nil)
	case *harness.ToolLog: // likewise
		return ""
	}
	return string(p.Type())
}

// made are identifiers and ports.
var made = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|127\.0\.0\.1:\d+|request id: \w+`)

// canonical is JSON with its keys in order.
func canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}
