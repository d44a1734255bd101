package rest

import (
	"cmp"

	"harness"
)

// The participants that every channel may have. The agent's id has the
// session's, a tool's and a subagent's their own names.
const (
	runtimeID  = "runtime"
	operatorID = "operator:local"
)

// cast is who takes part in a channel.
type cast struct {
	agent string
	tools map[harness.CallID]string // names of calls
}

func (c cast) tool(id harness.CallID, name string) string {
	return "tool:" + cmp.Or(name, c.tools[id], "unknown")
}

// route says who told an event to whom. What concerns an approval goes through
// the operator, whoever decided.
func (c cast) route(e harness.Event) (sender string, recipients []string) {
	switch p := e.Payload.(type) {
	case *harness.UserMessage:
		return operatorID, []string{c.agent}
	case *harness.Token, *harness.Response, *harness.Thinking, *harness.Reflection, *harness.Retrieval, *harness.StepProgress, *harness.Artifact:
		return c.agent, []string{operatorID}
	case *harness.ToolCall:
		return c.agent, []string{c.tool(p.ToolCallID, p.Name)}
	case *harness.ToolLog:
		return c.tool(p.ToolCallID, ""), []string{c.agent}
	case *harness.ToolResult:
		return c.tool(p.ToolCallID, p.ToolName), []string{c.agent}
	case *harness.ToolOutcome:
		return c.tool(p.ToolCallID, p.ToolName), []string{c.agent}
	case *harness.SubagentEvent:
		return "subagent:" + p.AgentID, []string{c.agent}
	case *harness.ApprovalRequired:
		return runtimeID, []string{operatorID}
	case *harness.ApprovalApplied:
		if p.Source == harness.ByUser {
			return operatorID, []string{runtimeID}
		}
		return runtimeID, []string{operatorID}
	case *harness.ContextWarning, *harness.ContextCompacted:
		return runtimeID, []string{c.agent, operatorID}
	case *harness.PolicyDecision, *harness.HookEvent, *harness.SandboxNotice, *harness.TurnStart, *harness.TurnStartTools,
		*harness.ToolBatch, *harness.ToolSelected, *harness.ToolValidationError:
		return runtimeID, []string{c.agent}
	case *harness.Session, *harness.SessionState, *harness.SessionCheckpoint, *harness.TransportDiagnostic, *harness.Usage, *harness.Antahkarana,
		*harness.Rewound, *harness.TurnEnd, *harness.Completed, *harness.Failure, *harness.HealthSnapshot, *harness.Unknown:
		return runtimeID, []string{operatorID}
	}
	return runtimeID, []string{operatorID}
}
