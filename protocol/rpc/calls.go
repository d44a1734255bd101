package rpc

import (
	"encoding/json"
	"fmt"

	"harness"
)

// What the methods take and give. The rules are in the tags; params.go reads
// them, schema.go describes them.

type (
	initializeParams struct {
		ClientInfo *clientInfo `json:"clientInfo"`
	}
	clientInfo struct {
		Name    string `json:"name" rule:"required max=128"`
		Version string `json:"version" rule:"max=128"`
	}
	initializeResult struct {
		Version      string          `json:"version"`
		Capabilities map[string]bool `json:"capabilities"`
		encoded      []byte
	}

	threadCreateParams struct {
		Title     string `json:"title" rule:"max=1024"`
		Directory string `json:"directory" rule:"max=4096"`
		// MaxRetries is how often a turn is tried again that failed in a way that may pass.
		MaxRetries *int64 `json:"maxRetries" rule:"min=0 max=100"`
		Isolated   *bool  `json:"isolated"` // it works in a directory of its own, made of directory
	}
	threadForkParams struct {
		ThreadID harness.SessionID `json:"threadId" rule:"required id"`
		At       *int64            `json:"at" rule:"min=1"` // a seq; the end of the log if left out
		Title    string            `json:"title" rule:"max=1024"`
	}
	threadResult struct {
		Thread thread `json:"thread"`
	}

	threadListParams struct {
		Limit  int64  `json:"limit" rule:"min=0"` // 0: all
		Cursor string `json:"cursor" rule:"max=192"`
	}
	threadListResult struct {
		Threads []thread `json:"threads"`
		Next    string   `json:"nextCursor,omitempty"`
	}

	threadGetParams struct {
		ThreadID harness.SessionID `json:"threadId" rule:"required id"`
		After    int64             `json:"after" rule:"min=0"`
		Limit    int64             `json:"limit" rule:"min=0"` // 0: all
	}
	threadGetResult struct {
		Thread thread      `json:"thread"`
		Events []event     `json:"events"`
		Next   harness.Seq `json:"next,omitempty"` // there is more after this seq
	}

	threadSubscribeParams struct {
		ThreadID harness.SessionID `json:"threadId" rule:"required id"`
		After    *int64            `json:"after" rule:"min=0"` // from now on if left out
	}
	threadSubscribeResult struct {
		Thread thread      `json:"thread"`
		Seq    harness.Seq `json:"seq"` // notifications go on behind this
		Turn   *turn       `json:"turn,omitempty"`
	}

	turnStartParams struct {
		ThreadID  harness.SessionID `json:"threadId" rule:"required id"`
		Input     []inputPart       `json:"input" rule:"required"`
		Model     *modelRef         `json:"model"`
		Agent     string            `json:"agent" rule:"max=128"`
		Queue     bool              `json:"queue"` // wait while another turn runs
		ClientKey string            `json:"clientKey" rule:"max=128"`
	}
	modelRef struct {
		ProviderID string `json:"providerID" rule:"required max=63"`
		ModelID    string `json:"modelID" rule:"required max=64"`
	}
	inputPart struct {
		Type     string `json:"type" rule:"required words=text|file"`
		Text     string `json:"text" rule:"max=524288"`
		URL      string `json:"url" rule:"max=4096"`
		Path     string `json:"path" rule:"max=4096"`
		Filename string `json:"filename" rule:"max=4096"`
		Mime     string `json:"mime" rule:"max=128"`
	}
	turnStartResult struct {
		TurnID harness.TurnID `json:"turnId"` // empty while the prompt waits
		ItemID harness.ItemID `json:"itemId"`
		Seq    harness.Seq    `json:"seq"`
	}

	turnSteerParams struct {
		ThreadID  harness.SessionID `json:"threadId" rule:"required id"`
		Input     []inputPart       `json:"input" rule:"required"`
		ClientKey string            `json:"clientKey" rule:"max=128"`
	}
	turnCancelParams struct {
		ThreadID harness.SessionID `json:"threadId" rule:"required id"`
		TurnID   harness.TurnID    `json:"turnId" rule:"max=128"`
	}
	approvalRespondParams struct {
		RequestID harness.ApprovalID `json:"requestId" rule:"required max=160"`
		Decision  string             `json:"decision" rule:"required words=once|always|reject"`
		Reason    string             `json:"reason" rule:"max=16384"`
		ThreadID  harness.SessionID  `json:"threadId" rule:"id"` // where it was asked, if the client knows
	}

	threadConfigureParams struct {
		ThreadID harness.SessionID `json:"threadId" rule:"required id"`
		Config   *config           `json:"config" rule:"required"`
	}
	config struct {
		PermissionMode *string `json:"permissionMode" rule:"words=default|acceptEdits|fullAuto"`
		Effort         *string `json:"effort" rule:"words=low|medium|high|max"`
		Model          *string `json:"model" rule:"max=128"`
		Agent          *string `json:"agent" rule:"max=128"`
		SystemPrompt   *string `json:"systemPrompt" rule:"max=524288"`
		MaxTurns       *int64  `json:"maxTurns" rule:"min=0 max=1000000"`
	}
	threadRewindParams struct {
		ThreadID  harness.SessionID `json:"threadId" rule:"required id"`
		MessageID harness.ItemID    `json:"messageId" rule:"required max=128"`
		DryRun    bool              `json:"dryRun"`
		Force     bool              `json:"force"` // also what somebody else has changed since
		ClientKey string            `json:"clientKey" rule:"max=128"`
	}
	threadParams struct {
		ThreadID harness.SessionID `json:"threadId" rule:"required id"`
	}
	okResult struct {
		OK bool `json:"ok"`
	}

	threadHealthResult struct {
		ThreadID         harness.SessionID `json:"threadId"`
		Seq              harness.Seq       `json:"seq"`
		Status           harness.Status    `json:"status"`
		Reason           string            `json:"reason,omitempty"`
		Error            string            `json:"error,omitempty"`
		PendingApprovals int               `json:"pendingApprovals"`
		Queued           int               `json:"queued"`
		Attempt          int               `json:"attempt,omitempty"`
		Turns            int               `json:"turns"`
		LastEvent        int64             `json:"lastEvent"`
		Score            *int              `json:"score,omitempty"` // 0 to 100
		Grade            string            `json:"grade,omitempty" rule:"words=healthy|watch|degraded|critical"`
		Flags            []threadFlag      `json:"flags"`
		Hint             *threadHint       `json:"recoveryHint,omitempty"`
	}
	threadFlag struct {
		Code     string      `json:"code"`
		Severity string      `json:"severity" rule:"words=info|warn|critical"`
		SinceSeq harness.Seq `json:"sinceSeq"`
		Evidence []string    `json:"evidence"` // ids of events
		Message  string      `json:"message"`
	}
	threadHint struct {
		Action string `json:"action" rule:"words=none|approve|raise_budget|resume|branch|wait|investigate"`
		Cursor string `json:"cursor,omitempty"`
		Text   string `json:"text"`
	}
)

// event is a notification as thread.get returns it: its params, its method and
// when it was first sent.
type event struct{ json.RawMessage }

// parts is the input of a turn in the log's form.
func parts(field string, input []inputPart) ([]harness.Part, *rpcError) {
	var list []harness.Part
	for i, p := range input {
		at := fmt.Sprintf("%s[%d].", field, i)
		switch {
		case p.Type == "text" && p.Text == "":
			return nil, badParam(at+"text", "must not be empty")
		case p.Type == "text":
			list = append(list, harness.Part{Type: "text", Text: p.Text})
			continue
		case p.Path == "":
			p.Path = p.Filename
		}
		if p.URL == "" && p.Path == "" {
			return nil, badParam(at+"url", "a file needs a url or a path")
		}
		list = append(list, harness.Part{Type: "file", URL: p.URL, Path: p.Path, MediaType: p.Mime})
	}
	if err := harness.CheckParts(list); err != nil {
		return nil, badParam(field, harness.ClientText(err))
	}
	return list, nil
}
