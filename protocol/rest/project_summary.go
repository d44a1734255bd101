package rest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"harness"
)

// maxSummary bounds an envelope's summary: a line.
const maxSummary = 160

// summarize tells an event in a line.
func summarize(p harness.Payload) string {
	s := strings.Join(strings.Fields(told(p)), " ")
	if len(s) <= maxSummary {
		return s
	}
	n := maxSummary
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// told is what an event says, long or short.
func told(p harness.Payload) string {
	switch p := p.(type) {
	case *harness.Session:
		return "session " + string(p.SessionID)
	case *harness.SessionState:
		return toldState(p)
	case *harness.SessionCheckpoint:
		return join(p.CheckpointType+" checkpoint "+p.Status, p.SummaryText)
	case *harness.UserMessage:
		return harness.PlainText(p.Parts)
	case *harness.PolicyDecision:
		return join(p.Subject+" "+p.Outcome, p.Reason)
	case *harness.HookEvent:
		return join(p.Kind+" "+p.Status, p.Reason)
	case *harness.SandboxNotice:
		return join(p.ResolvedBackend+" ("+p.Isolation+")", p.Reason)
	case *harness.TransportDiagnostic:
		return join(p.Kind+" "+p.Status, p.Reason)
	case *harness.SubagentEvent:
		return join(p.AgentID+" "+p.Status, p.Summary)
	case *harness.TurnStart:
		return fmt.Sprintf("turn %s started, attempt %d", p.TurnID, p.Attempt)
	case *harness.TurnStartTools:
		return fmt.Sprintf("%d tools", len(p.Tools))
	case *harness.Token:
		return p.Text
	case *harness.Response:
		return p.Text
	case *harness.Thinking:
		return p.Text
	case *harness.Reflection:
		return p.Text
	case *harness.ToolCall:
		return p.Name + " called"
	case *harness.ToolLog:
		return p.Text
	case *harness.ToolResult:
		return join(p.ToolName, p.Output)
	case *harness.ToolOutcome:
		return join(p.ToolName+" "+p.Status, p.Error+p.Reason)
	case *harness.ToolBatch:
		return join(fmt.Sprintf("%d waves of calls", len(p.Waves)), p.Reason)
	case *harness.ToolSelected:
		return fmt.Sprintf("%d tools selected", len(p.Tools))
	case *harness.ToolValidationError:
		return join(p.ToolName, strings.Join(p.Errors, "; "))
	case *harness.ContextWarning:
		return fmt.Sprintf("context %.0f%% full", p.Pct)
	case *harness.ContextCompacted:
		return join(fmt.Sprintf("%d messages became %d", p.OriginalCount, p.CompactedCount), p.Summary)
	case *harness.StepProgress:
		return fmt.Sprintf("step %d/%d %s: %s", p.Index, p.Total, p.Status, p.Title)
	case *harness.Usage:
		return fmt.Sprintf("%d tokens in, %d out", p.InputTokens, p.OutputTokens)
	case *harness.Retrieval:
		return fmt.Sprintf("%d passages for %s", len(p.Chunks), p.Query)
	case *harness.Antahkarana:
		return join("guardrails", strings.Join(p.Guardrails, "; "))
	case *harness.ApprovalRequired:
		return join("may "+p.ToolName+" run?", p.Description)
	case *harness.ApprovalApplied:
		return join(p.ToolName+": "+string(p.Decision)+" by "+string(p.Source), p.Reason)
	case *harness.Artifact:
		return join(p.ArtifactType, p.Title)
	case *harness.Rewound:
		return fmt.Sprintf("%d files taken back to %s", len(p.FilesChanged), p.MessageID)
	case *harness.TurnEnd:
		return join("turn "+string(p.TurnID)+" "+p.Status, p.Reason)
	case *harness.Completed:
		return join("completed", p.Result)
	case *harness.Failure:
		return p.Message
	case *harness.HealthSnapshot, *harness.Unknown:
		return string(p.Type())
	}
	return string(p.Type())
}

func toldState(p *harness.SessionState) string {
	switch {
	case p.ParentSessionID != "":
		return "branched from " + p.BranchSourceEventID
	case p.Status != "":
		return join("session "+string(p.Status), p.Reason)
	}
	return "session configured"
}

func join(what, more string) string {
	what = strings.TrimSpace(what)
	if more == "" {
		return what
	}
	return what + ": " + more
}
