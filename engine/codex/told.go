package codex

import (
	"context"
	"errors"

	"harness"
	"harness/engine/internal/talk"
)

// told is something that the program tells.
func (r *run) told(ctx context.Context, m *talk.Message) error {
	if silent[m.Method] {
		return nil
	}
	switch m.Method {
	case "turn/started", "turn/completed":
		var t turnNotice
		if err := m.Read(&t); err != nil {
			return err
		}
		if t.Thread != r.thread {
			return nil
		}
		if m.Method == "turn/started" && r.id == "" {
			r.id = t.Turn.ID
		}
		if m.Method == "turn/completed" && t.Turn.ID == r.id {
			r.over = &t
		}
		return nil
	}
	var at place
	if err := m.Read(&at); err != nil {
		return err
	}
	main := at.Thread == r.thread
	if main && at.Turn != "" && at.Turn != r.id {
		return nil // of a turn before: a thread that is resumed or forked tells its last usage again
	}
	facts, err := r.tr.take(m, main)
	if err != nil {
		return err
	}
	if len(facts) > 0 && main {
		if err := r.progress(ctx); err != nil {
			return err
		}
	}
	return r.talk.Emit(ctx, facts...)
}

// progress is that the model has answered: the thread can be gone on with, and
// a limit may be reached.
func (r *run) progress(ctx context.Context) error {
	if r.tr.commands {
		r.slot.Process.Worked = true
	}
	if limit := r.host.Config().MaxTurns; limit > 0 && r.tr.answers > limit || limit > 0 && r.tr.answers == limit && r.tr.fresh {
		if err := r.halt(errors.New("the turn reached the limit of max_turns")); err != nil {
			return err
		}
	}
	if r.marked {
		return nil
	}
	return r.mark(ctx)
}

// acts reports whether a line shows the program at work, or cannot be read.
func acts(line []byte) bool {
	m, err := talk.Decode(line)
	if err != nil {
		return true
	}
	switch m.Method {
	case "turn/started", "item/started", "item/agentMessage/delta":
		return true
	}
	return len(m.ID) > 0 && m.Method != ""
}

// silent are the notifications that tell nothing the log needs.
var silent = map[string]bool{
	"account/rateLimits/updated": true, "account/updated": true, "account/login/completed": true, "app/list/updated": true, "configWarning": true, "deprecationNotice": true,
	"guardianWarning": true, "hook/completed": true, "hook/started": true, "item/autoApprovalReview/completed": true, "item/autoApprovalReview/started": true,
	"item/commandExecution/terminalInteraction": true, "item/fileChange/patchUpdated": true, "mcpServer/oauthLogin/completed": true, "mcpServer/startupStatus/updated": true,
	"model/safetyBuffering/updated": true, "model/verification": true, "modelProvider/authRecoveryCompleted": true, "modelProvider/authRecoveryStarted": true,
	"remoteControl/status/changed": true, "serverRequest/resolved": true, "skills/changed": true, "thread/archived": true, "thread/closed": true, "thread/compacted": true,
	"thread/deleted": true, "thread/environment/connected": true, "thread/environment/disconnected": true, "thread/goal/cleared": true, "thread/goal/updated": true,
	"thread/name/updated": true, "thread/prediction/updated": true, "thread/project/updated": true, "thread/queue/changed": true, "thread/readState/changed": true,
	"thread/reverted": true, "thread/settings/updated": true, "thread/started": true, "thread/status/changed": true, "thread/unarchived": true,
	"turn/diff/updated": true, "turn/moderationMetadata": true, "warning": true,
}

// diagnose is what a failure that the program tries to get over says.
func (e *errorNotice) diagnose() []harness.Payload {
	if !e.WillRetry {
		return nil // the turn's end says it
	}
	return []harness.Payload{&harness.TransportDiagnostic{Status: "degraded", Kind: "api_retry", Reason: e.Error.Message, FailureCount: 1}}
}
