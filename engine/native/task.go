package native

import (
	"context"
	"fmt"

	"harness"
	"harness/tool"
)

// maxSummary bounds what an event says of delegated work; the child's log has it all.
const maxSummary = 500

// delegate hands work to a session of its own and waits for its answer. What the
// child does is asked about where it does it.
func (r *turn) delegate(spawner harness.Spawner) func(context.Context, *tool.Env, tool.TaskInput) (tool.Result, error) {
	return func(ctx context.Context, _ *tool.Env, in tool.TaskInput) (tool.Result, error) {
		n := harness.NewSession{Title: in.Description}
		cfg := r.h.Config()
		if in.Model != "" {
			n.Config.Model = &in.Model
		}
		if cfg.Effort != "" {
			n.Config.Effort = &cfg.Effort
		}
		if cfg.Agent != "" {
			n.Config.Agent = &cfg.Agent
		}
		if cfg.MaxTurns > 0 {
			n.Config.MaxTurns = &cfg.MaxTurns
		}
		event := harness.SubagentEvent{ParentSessionID: r.t.Session, Task: cut(in.Description+"\n"+in.Prompt, maxSummary), Status: harness.SubagentRunning}
		var told error
		answer, err := spawner.Spawn(ctx, n, in.Prompt, func(id harness.SessionID) {
			event.AgentID = string(id)
			told = r.h.Emit(ctx, &event)
		})
		switch {
		case event.AgentID == "": // it never began
			return tool.Result{}, fmt.Errorf("the task could not be given to a subagent: %w", err)
		case told != nil:
			return tool.Result{}, told
		}
		done := event
		done.Status, done.Summary = harness.SubagentCompleted, cut(answer, maxSummary)
		if err != nil {
			done.Status, done.Summary = harness.SubagentFailed, cut(err.Error(), maxSummary)
		}
		if told := r.h.Emit(ctx, &done); told != nil {
			return tool.Result{}, told
		}
		if err != nil {
			return tool.Result{Text: answer}, fmt.Errorf("the subagent failed: %w", err)
		}
		return tool.Result{Text: answer}, nil
	}
}
